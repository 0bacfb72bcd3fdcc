# The module unicodedata, for Latin letters: what each is made of.

# Letters with a mark, the letter under each, and which of the marks it is.
_WHOLE = (
    "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨ"
    "ĩĪīĬĭĮįİĴĵĶķĹĺĻļĽľŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽžƠơƯưǍǎǏǐǑǒǓǔǕǖǗǘǙǚǛ"
    "ǜǞǟǠǡǢǣǦǧǨǩǪǫǬǭǮǯǰǴǵǸǹǺǻǼǽǾǿȀȁȂȃȄȅȆȇȈȉȊȋȌȍȎȏȐȑȒȓȔȕȖȗȘșȚțȞȟȦȧȨȩȪȫȬȭȮȯȰȱȲȳḀḁḂḃḄḅḆḇḈḉḊḋḌḍḎḏḐḑ"
    "ḒḓḔḕḖḗḘḙḚḛḜḝḞḟḠḡḢḣḤḥḦḧḨḩḪḫḬḭḮḯḰḱḲḳḴḵḶḷḸḹḺḻḼḽḾḿṀṁṂṃṄṅṆṇṈṉṊṋṌṍṎṏṐṑṒṓṔṕṖṗṘṙṚṛṜṝṞṟṠṡṢṣṤṥṦṧṨṩṪṫ"
    "ṬṭṮṯṰṱṲṳṴṵṶṷṸṹṺṻṼṽṾṿẀẁẂẃẄẅẆẇẈẉẊẋẌẍẎẏẐẑẒẓẔẕẖẗẘẙẛẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặẸẹẺẻẼẽẾếỀềỂểỄễỆệỈỉỊ"
    "ịỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợỤụỦủỨứỪừỬửỮữỰựỲỳỴỵỶỷỸỹ"
)
_UNDER = (
    "AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhI"
    "iIiIiIiIJjKkLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZzOoUuAaIiOoUuÜüÜüÜüÜ"
    "üÄäȦȧÆæGgKkOoǪǫƷʒjGgNnÅåÆæØøAaAaEeEeIiIiOoOoRrRrUuUuSsTtHhAaEeÖöÕõOoȮȯYyAaBbBbBbÇçDdDdDdDd"
    "DdĒēĒēEeEeȨȩFfGgHhHhHhHhHhIiÏïKkKkKkLlḶḷLlLlMmMmMmNnNnNnNnÕõÕõŌōŌōPpPpRrRrṚṛRrSsSsŚśŠšṢṣTt"
    "TtTtTtUuUuUuŨũŪūVvVvWwWwWwWwWwXxXxYyZzZzZzhtwyſAaAaÂâÂâÂâÂâẠạĂăĂăĂăĂăẠạEeEeEeÊêÊêÊêÊêẸẹIiI"
    "iOoOoÔôÔôÔôÔôỌọƠơƠơƠơƠơƠơUuUuƯưƯưƯưƯưƯưYyYyYyYy"
)
_MARKS = (
    "abcdhjtabchabchdabcdhabchbabcdhjtabchabchdabcdhabchbheeffuubbccgglllleeffgguullccffggttccd"
    "deeffuugccttbbttllbbttlleeffkkbbttllbbccttllttllddeeffjjkkuucccchbbgglloooolllllllleebblla"
    "aeeeeeelllluueelllbbaabbbbbbmmnnmmnnmmnnmmnnmmnnmmnnssssllggtteeeeggeeeerrggppyybbggppyytt"
    "vvaabbvvxxffggeeggpphhttwwxxbbbbppyyppeeyyvvbbggppggppyyvvbbhhaabbbbggggppeeyyggppgggggggg"
    "ppyyvvqqxxvvbbhhddppaabbhhggppgghhggccppyyyhjjgppiibbaaiiddccbbaaiiddffppiiddbbaaiiddcciip"
    "pppiibbaaiiddccbbaaiiddppppiibbaaiiddppaappiidd"
)
_MARK = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030f\u0311\u031b\u0323\u0324\u0325\u0326\u0327\u0328\u032d\u032e\u0330\u0331"
_parts = {}


def _part(c):
    if not _parts:
        for whole, under, mark in zip(_WHOLE, _UNDER, _MARKS):
            _parts[whole] = under + _MARK[ord(mark) - ord("a")]
    made = _parts.get(c)
    return c if made is None else _part(made[0]) + made[1]


def combining(chr):
    return 230 if 0x300 <= ord(chr) <= 0x36F else 0


def normalize(form, unistr):
    if form not in ("NFD", "NFKD"):
        raise NotImplementedError(f"unicodedata.normalize({form!r}) is not here: NFD is")
    return "".join([_part(c) if ord(c) > 127 else c for c in unistr])


def category(chr):
    if 0x300 <= ord(chr) <= 0x36F:
        return "Mn"
    if chr.isalpha():
        return "Lu" if chr.isupper() else "Ll" if chr.islower() else "Lo"
    if chr.isdigit():
        return "Nd"
    if chr.isspace():
        return "Zs" if chr in " \u00a0\u3000" else "Cc"
    return "Pd" if chr == "-" else "Sm" if chr in "+<=>|~" else "Po"
