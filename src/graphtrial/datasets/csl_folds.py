"""The five published folds of CSL.

From the index files of benchmarking-gnns (Dwivedi et al., MIT licence): one row per fold, one character per graph in
class order, 15 graphs per class; `.` is trained on, `v` validates, `t` is tested. Every graph is tested in one fold.
"""

FOLDS = (
    "v..v.....tt..vt.vv.v...t..tt....vv.t..vtt......t..t.vv..vt..v...vvt...tt..."
    "t.v.vv.tt.......t.tt.v.v...v..vvt..tv.....t.........v.vtvtt.vt...t.tv...v..",
    ".t..tt.v.....vv.t..v.t..t.vv....ttv...t.vv....tvt...t.v..v....t.v...v..vtt."
    "..v.tt....tv.v.v......tv..tt.v.v.ttvt.v.......v.t..vt.t...v..v......tv.vt.t",
    "v.v..v.t...tt....t..t....tv.vv.v..t....v.v.ttt...v..vvt....t....tt.vvt.v..."
    ".tt....v..vt.v.v....t...ttv.v.t.....v.v..tvt..vv.t.t.t.v.......ttv.v.t..v..",
    "t.t.v......v.tvt.v.t..tv....v..t....t.v.vtv.......v.vv.tt.t..t.vv..tt..v..."
    "v..t..t....v.tv..tv..t..v.v..tvt......t.t.v.v.tv..t...v.tv....tv..v...ttv..",
    "..vtv.t.t...v.....tv..v....vtttv.....t.v..tv.....tvt.tv....vt..t.v...v.v..t"
    "v.....v..t.vt.tt...v.v.t....tv.......t.tv.vvttvt...v.....v.tt.v..vt....v.t.",
)
