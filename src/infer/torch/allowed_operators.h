// The operators a model may be made of: what feed-forward, embedding, attention, LSTM and GRU models need. All of them
// give the same answer for the same input, change nothing but their result and reach nothing outside the model. What
// is missing on purpose: whole-number division (by zero it would end the process), texts, loops, anything random,
// anything that writes into its input (names that end in _), memory that is not set (empty), files, printing, warnings,
// threads (fork, wait), Python, operators and classes of other libraries.
#pragma once

#include <string>
#include <unordered_set>

namespace harmony {

inline const std::unordered_set<std::string> &allowed_operators() {
  static const std::unordered_set<std::string> names = {
      // what the language itself needs
      "prim::Constant", "prim::GetAttr", "prim::If", "prim::ListConstruct", "prim::ListUnpack", "prim::NumToTensor",
      "prim::RaiseException", "prim::TupleConstruct", "prim::TupleIndex", "prim::TupleSlice", "prim::TupleUnpack",
      "prim::Uninitialized", "prim::abs", "prim::device", "prim::dtype", "prim::is_cuda", "prim::layout", "prim::max",
      "prim::min", "prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::Bool", "aten::BoolImplicit",
      "aten::Float", "aten::FloatImplicit", "aten::Int", "aten::IntImplicit", "aten::ScalarImplicit", "aten::__and__",
      "aten::__contains__", "aten::__getitem__", "aten::__is__", "aten::__isnot__", "aten::__not__", "aten::__or__",
      "aten::__range_length", "aten::__xor__", "aten::_unwrap_optional", "aten::item", "aten::len", "aten::list",
      // arithmetic
      "aten::abs", "aten::acos", "aten::add", "aten::addcdiv", "aten::addcmul", "aten::asin", "aten::atan",
      "aten::atan2", "aten::ceil", "aten::clamp", "aten::clamp_max", "aten::clamp_min", "aten::clip", "aten::cos",
      "aten::cosh", "aten::div", "aten::divide", "aten::erf", "aten::erfc", "aten::exp", "aten::exp2", "aten::expm1",
      "aten::floor", "aten::frac", "aten::lerp", "aten::log", "aten::log10", "aten::log1p", "aten::log2",
      "aten::logaddexp", "aten::maximum", "aten::minimum", "aten::mul", "aten::multiply", "aten::nan_to_num",
      "aten::neg", "aten::negative", "aten::positive", "aten::pow", "aten::reciprocal", "aten::round", "aten::rsqrt",
      "aten::rsub", "aten::sign", "aten::sin", "aten::sinh", "aten::sqrt", "aten::square", "aten::sub",
      "aten::subtract", "aten::tan", "aten::trunc", "aten::xlogy",
      // comparison and choice
      "aten::all", "aten::any", "aten::bitwise_and", "aten::bitwise_not", "aten::bitwise_or", "aten::bitwise_xor",
      "aten::eq", "aten::equal", "aten::ge", "aten::gt", "aten::isfinite", "aten::isinf", "aten::isnan", "aten::le",
      "aten::logical_and", "aten::logical_not", "aten::logical_or", "aten::logical_xor", "aten::lt",
      "aten::masked_fill", "aten::ne", "aten::where",
      // sums and the like
      "aten::amax", "aten::amin", "aten::argmax", "aten::argmin", "aten::argsort", "aten::count_nonzero",
      "aten::cummax", "aten::cumprod", "aten::cumsum", "aten::logsumexp", "aten::max", "aten::mean", "aten::median",
      "aten::min", "aten::norm", "aten::linalg_vector_norm", "aten::prod", "aten::sort", "aten::std", "aten::sum",
      "aten::topk", "aten::var",
      // linear algebra
      "aten::addbmm", "aten::addmm", "aten::addmv", "aten::baddbmm", "aten::bilinear", "aten::bmm",
      "aten::chain_matmul", "aten::dot", "aten::einsum", "aten::inner", "aten::linear", "aten::matmul", "aten::mm",
      "aten::mv", "aten::outer", "aten::tensordot",
      // shape
      "aten::broadcast_tensors", "aten::broadcast_to", "aten::chunk", "aten::clone", "aten::contiguous", "aten::detach",
      "aten::dim", "aten::expand", "aten::expand_as", "aten::flatten", "aten::flip", "aten::is_contiguous",
      "aten::is_floating_point", "aten::movedim", "aten::narrow", "aten::ndimension", "aten::numel", "aten::permute",
      "aten::repeat", "aten::repeat_interleave", "aten::reshape", "aten::roll", "aten::select", "aten::size",
      "aten::slice", "aten::split", "aten::split_with_sizes", "aten::squeeze", "aten::swapaxes", "aten::t",
      "aten::tile", "aten::to", "aten::transpose", "aten::type_as", "aten::unbind", "aten::unflatten",
      "aten::unsqueeze", "aten::view", "aten::view_as",
      // new tensors
      "aten::arange", "aten::as_tensor", "aten::eye", "aten::full", "aten::full_like", "aten::linspace",
      "aten::new_full", "aten::new_ones", "aten::new_zeros", "aten::ones", "aten::ones_like", "aten::scalar_tensor",
      "aten::tensor", "aten::tril", "aten::triu", "aten::zeros", "aten::zeros_like",
      // putting together and picking out
      "aten::bucketize", "aten::cat", "aten::concat", "aten::embedding", "aten::embedding_bag", "aten::gather",
      "aten::hstack", "aten::index", "aten::index_add", "aten::index_select", "aten::masked_select", "aten::one_hot",
      "aten::pad", "aten::constant_pad_nd", "aten::scatter", "aten::scatter_add", "aten::stack", "aten::take",
      "aten::take_along_dim", "aten::vstack",
      // activations
      "aten::celu", "aten::elu", "aten::gelu", "aten::glu", "aten::hardsigmoid", "aten::hardswish", "aten::hardtanh",
      "aten::leaky_relu", "aten::log_sigmoid", "aten::log_softmax", "aten::mish", "aten::prelu", "aten::relu",
      "aten::relu6", "aten::selu", "aten::sigmoid", "aten::silu", "aten::softmax", "aten::softplus", "aten::softsign",
      "aten::tanh", "aten::threshold",
      // layers; what is random in training is refused unless the training flag is off
      "aten::alpha_dropout", "aten::avg_pool1d", "aten::batch_norm", "aten::conv1d", "aten::cosine_similarity",
      "aten::dropout", "aten::feature_dropout", "aten::group_norm", "aten::gru", "aten::gru_cell", "aten::layer_norm",
      "aten::lstm", "aten::lstm_cell", "aten::max_pool1d", "aten::rnn_relu", "aten::rnn_relu_cell", "aten::rnn_tanh",
      "aten::rnn_tanh_cell"};
  return names;
}

} // namespace harmony
