#include "src/sim/report/gnuplot.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>

namespace harmony {
namespace {

namespace fs = std::filesystem;

// Gone with everything in it when the charts are read, or when something was thrown.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    const char *wanted = std::getenv("TMPDIR");
    path_ = fmt::format("{}/harmony-report-XXXXXX", wanted && *wanted ? wanted : "/tmp");
    if (!mkdtemp(path_.data()))
      throw std::runtime_error(fmt::format("cannot make a directory for the charts, {}: {}; no report was written",
                                           printable(path_, 200), strerror(errno)));
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::string file(const std::string &name) const { return path_ + '/' + name; }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

std::string contents(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Neither a user's start-up file nor the locale may change what a report looks like.
int run(const TemporaryDirectory &directory) {
  const char *path = std::getenv("PATH");
  std::string search = fmt::format("PATH={}", path ? path : "/usr/bin:/bin"), locale = "LC_ALL=C.UTF-8";
  char *const environment[] = {search.data(), locale.data(), nullptr};
  std::string name = "gnuplot", defaults = "-d", script = "script";
  char *const arguments[] = {name.data(), defaults.data(), script.data(), nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.path().c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "messages", O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, "gnuplot", &actions, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw std::runtime_error(
        "the charts of the report are drawn by gnuplot, which is not installed: install the Debian "
        "package gnuplot-nox; no report was written");
  if (error != 0)
    throw std::runtime_error(fmt::format("cannot start gnuplot: {}; no report was written", strerror(error)));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      throw std::runtime_error(fmt::format("lost gnuplot: {}; no report was written", strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void write_script(const std::string &path, const std::vector<Drawing> &drawings) {
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < drawings.size(); ++i)
    out << fmt::format("reset session\nset encoding utf8\n"
                       "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,13' linewidth 1\n"
                       "set output '{}.svg'\n{}\nunset output\n",
                       drawings[i].width, drawings[i].height, i, drawings[i].commands);
  if (!out.flush())
    throw std::runtime_error(fmt::format("cannot write {}; no report was written", printable(path, 200)));
}

void drop(std::string &svg, const std::string &from, const std::string &to) {
  std::string kept;
  std::size_t at = 0;
  for (std::size_t begin; (begin = svg.find(from, at)) != std::string::npos;) {
    kept.append(svg, at, begin - at);
    const std::size_t end = svg.find(to, begin);
    at = end == std::string::npos ? svg.size() : end + to.size();
  }
  svg = kept.append(svg, at, std::string::npos);
}

void replace(std::string &text, const std::string &old, const std::string &now) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
}

// One pass over the picture: a text that looks like the place of another stays a text.
std::string filled(const std::string &svg, const std::vector<std::string> &texts) {
  std::string all;
  std::size_t at = 0;
  for (std::size_t begin; (begin = svg.find("[[", at)) != std::string::npos;) {
    all.append(svg, at, begin - at);
    const std::size_t end = svg.find("]]", begin);
    if (end == std::string::npos) break;
    all += texts.at(std::strtoul(svg.c_str() + begin + 2, nullptr, 10));
    at = end + 2;
  }
  return all.append(svg, at, std::string::npos);
}

std::string embedded(std::string svg, const Drawing &drawing, std::size_t number) {
  const std::size_t head = svg.find("</desc>"), end = svg.rfind("</svg>");
  if (head == std::string::npos || end == std::string::npos)
    throw std::runtime_error("gnuplot wrote something else than a picture; no report was written");
  svg = svg.substr(head + 7, end - head - 7);
  drop(svg, "<title>", "</title>"); // gnuplot's commands, which browsers would show
  drop(svg, "<defs>", "</defs>");   // of points, which our charts do not have
  replace(svg,
          "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" stroke-linecap=\"butt\" "
          "stroke-linejoin=\"miter\">\n</g>\n",
          "");
  replace(svg, "id=\"gnuplot_", fmt::format("id=\"chart{}_", number));
  svg = filled(svg, drawing.texts);
  for (std::size_t i = 0; i < drawing.plots.size(); ++i) {
    const std::string plot = fmt::format("id=\"chart{}_plot_{}\" >", number, i + 1);
    if (const std::size_t at = svg.find(plot); at != std::string::npos)
      svg.insert(at + plot.size(), fmt::format("<title>{}</title>", drawing.plots[i]));
  }
  return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"chart{}_t chart{}_d\">"
                     "<title id=\"chart{}_t\">{}</title><desc id=\"chart{}_d\">{}"
                     "</desc>{}</svg>\n",
                     drawing.width, drawing.height, number, number, number, drawing.title, number, drawing.description,
                     svg);
}

} // namespace

std::string Drawing::text(const std::string &shown) {
  texts.push_back(shown);
  return fmt::format("'[[{}]]'", texts.size() - 1);
}

std::vector<std::string> draw(const std::vector<Drawing> &drawings) {
  if (drawings.empty()) return {};
  const TemporaryDirectory directory;
  write_script(directory.file("script"), drawings);
  const int code = run(directory);
  const std::string said = contents(directory.file("messages"));
  if (code != 0)
    throw std::runtime_error(
        fmt::format("gnuplot ended with {} and said: {}; no report was written", code, one_line(said, 400)));
  std::vector<std::string> pictures;
  for (std::size_t i = 0; i < drawings.size(); ++i)
    pictures.push_back(embedded(contents(directory.file(fmt::format("{}.svg", i))), drawings[i], i));
  return pictures;
}

} // namespace harmony
