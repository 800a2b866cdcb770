// The style sheet and the scripts of the report. They hold nothing of a comparison: the scripts read their data from
// the page.
#pragma once

namespace harmony {

const char *report_style();
const char *report_map_script(); // first
const char *report_script();

} // namespace harmony
