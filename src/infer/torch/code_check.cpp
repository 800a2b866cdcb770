#include "src/infer/torch/code_check.h"

#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/tree_views.h>

#include <fmt/format.h>

#include <memory>

namespace harmony {
namespace {

using namespace torch::jit;

// LibTorch's parser and compiler call themselves for what is nested: more than this could overflow the stack.
constexpr int most_tokens = 2000, most_brackets = 50, most_indents = 30;

struct Refused {
  std::string what;
  SourceRange where;
};

void check_nesting(const std::shared_ptr<Source> &source) {
  Lexer lexer(source);
  int tokens = 0, brackets = 0, indents = 0;
  while (lexer.cur().kind != TK_EOF) {
    const Token token = lexer.next();
    tokens = token.kind == TK_NEWLINE ? 0 : tokens + 1;
    if (token.kind == '(' || token.kind == '[' || token.kind == '{') ++brackets;
    if (token.kind == ')' || token.kind == ']' || token.kind == '}') --brackets;
    if (token.kind == TK_INDENT) ++indents;
    if (token.kind == TK_DEDENT) --indents;
    if (tokens > most_tokens) throw Refused{"a statement that is too long", token.range};
    if (brackets > most_brackets || indents > most_indents) throw Refused{"too deep a nesting", token.range};
  }
}

bool is_loop(int kind) { return kind == TK_WHILE || kind == TK_FOR || kind == TK_LIST_COMP || kind == TK_DICT_COMP; }

bool is_literal(const TreeRef &tree) {
  switch (tree->kind()) {
  case TK_CONST:
  case TK_STRINGLITERAL:
  case TK_TRUE:
  case TK_FALSE:
  case TK_NONE: return true;
  case TK_UNARY_MINUS:
  case TK_LIST_LITERAL:
  case TK_TUPLE_LITERAL:
  case TK_LIST:
  case TK_OPTION:
    for (const TreeRef &part : tree->trees())
      if (!is_literal(part)) return false;
    return true;
  default: return false;
  }
}

void check_tree(const TreeRef &tree) {
  if (is_loop(tree->kind())) throw Refused{"a loop", tree->range()};
  if (tree->kind() == TK_DEF) {
    const Def function(tree);
    const std::string name = function.name().name();
    if (name == "__setstate__")
      throw Refused{"a method __setstate__, which would run while it is loaded", tree->range()};
    for (const Param &parameter : function.decl().params())
      if (parameter.defaultValue().present() && !is_literal(parameter.defaultValue().get().tree()))
        throw Refused{"a default value that is computed", tree->range()};
  }
  for (const TreeRef &part : tree->trees()) check_tree(part);
}

void check_class(const TreeRef &tree) {
  const ClassDef definition(tree);
  for (const Stmt &statement : definition.body()) {
    if (statement.kind() != TK_ASSIGN) continue;
    const Assign assign(statement);
    // __annotations__["0"] = Tensor: a type, and never run.
    if (assign.lhs().kind() != TK_VAR || !assign.rhs().present()) continue;
    const std::string name = Var(assign.lhs()).name().name();
    if (name != "__annotations__" && !is_literal(assign.rhs().get().tree()))
      throw Refused{"a constant of a class that is computed", statement.range()};
  }
  check_tree(tree);
}

void check_file(const std::shared_ptr<Source> &source) {
  check_nesting(source);
  Parser parser(source);
  Lexer &lexer = parser.lexer();
  // Older versions of LibTorch open a file with "op_version_set = 1", and all with their imports.
  while (lexer.cur().kind != TK_EOF && lexer.cur().kind != TK_CLASS_DEF && lexer.cur().kind != TK_DEF) lexer.next();
  while (lexer.cur().kind != TK_EOF) {
    if (lexer.cur().kind == TK_CLASS_DEF)
      check_class(parser.parseClass());
    else if (lexer.cur().kind == TK_DEF)
      check_tree(parser.parseFunction(/*is_method=*/false));
    else if (lexer.cur().kind == TK_IMPORT)
      while (lexer.cur().kind != TK_NEWLINE && lexer.cur().kind != TK_EOF) lexer.next();
    else if (!lexer.nextIf(TK_NEWLINE))
      throw Refused{"something that is neither a class nor a function", lexer.cur().range};
  }
}

std::size_t line_of(const SourceRange &range) {
  const auto place = range.file_line_col();
  return place ? std::get<1>(*place) : 0;
}

} // namespace

std::string code_problem(const std::string &file, const std::string &text) {
  try {
    check_file(std::make_shared<Source>(text, file, 1));
    return {};
  } catch (const Refused &refused) {
    return fmt::format("its code has {} ({}, line {})", refused.what, file, line_of(refused.where));
  }
}

} // namespace harmony
