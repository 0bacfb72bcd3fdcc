// js/shared.js -- what most views use, for the bundler: it puts these modules into one file (web.mk), where it
// would otherwise make one for each set of views that share a module.  Not loaded by anything.

import "./view/dom.js";
import "./view/term.js";
import "./view/router.js";
import "./view/frame.js";
import "./view/choose.js";
import "./view/code.js";
import "./view/joined.js";
import "./view/marks.js";
import "./view/missing.js";
import "./view/modes_table.js";
import "./view/pick.js";
import "./api/client.js";
import "./api/place.js";
import "./model/breaks.js";
import "./model/commands.js";
import "./model/curves.js";
import "./model/format.js";
import "./model/glossary.js";
import "./model/guards.js";
import "./model/modes.js";
import "./model/selection.js";
import "./model/source.js";
import "./model/split.js";
import "./model/timeline.js";
import "./model/sentence.js";
import "./model/window.js";
import "./model/workload.js";
