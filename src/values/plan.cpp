#include "src/values/plan.h"

namespace harmony {

const char *verdict_name(Verdict verdict) {
  switch (verdict) {
  case Verdict::place: return "place";
  case Verdict::wait: return "wait";
  case Verdict::no_room: return "no_room";
  case Verdict::left_to_stock: return "left_to_stock";
  }
  return "left_to_stock";
}

} // namespace harmony
