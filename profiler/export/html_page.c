/* profiler/export/html_page.c -- what pages of one file begin and end with.
 *
 * The policy in the head lets them have their own style and nothing else.  Colours are those of
 * web/css/tokens.css.
 */
#include "profiler/export/html.h"

#include <math.h>

static const char style[] =
    ":root{color-scheme:light dark;--page:#fafaf8;--well:#fff;--sunk:#f1f1ee;--ink:#16181b;"
    "--ink2:#4d5158;--ink3:#666a72;--line:#e2e2dd;--edge:#85888c;--eager:#83868d;--lazy:#57440a;"
    "--static:#1f62f2;--dynamic:#e25c1e;--auto:#851b92;--graphs:#0a5046;--good:#0a6b4b;"
    "--good-bg:#e3f2eb;--bad:#b3261e;--bad-bg:#fbe9e7;--warn:#8a5300;--warn-bg:#fbf0db;"
    "--break:#c8321f;--fused:#2f7d95}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#101214;--well:#17191c;--sunk:#1d2024;"
    "--ink:#eceef0;--ink2:#b3b7be;--ink3:#90949c;--line:#272b30;--edge:#6d727a;--eager:#90929a;"
    "--lazy:#f5d24a;--static:#9ecbff;--dynamic:#f2543a;--auto:#bd50de;--graphs:#38eabc;"
    "--good:#4fd6a0;--good-bg:#12301f;--bad:#ff8f85;--bad-bg:#3a1a18;--warn:#f0b450;"
    "--warn-bg:#33260f;--break:#ff6a55;--fused:#5db4cd}}\n"
    "*{box-sizing:border-box}body{margin:0;padding:0 24px 32px;background:var(--page);"
    "color:var(--ink);font:13px/20px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "h1,h2,p,dl,dd,ol,table,figure{margin:0;padding:0}h1{font-size:18px;line-height:24px}"
    "h2{font-size:14px}h1 span,.note,.unit,.ci{color:var(--ink3);font-weight:400}\n"
    "header.run{padding:20px 0 12px;border-bottom:1px solid var(--line)}"
    "dl{display:flex;flex-wrap:wrap;gap:2px 24px;margin-top:4px}dl div{display:flex;gap:6px}"
    "dt{color:var(--ink3)}.verdict{font-size:22px;line-height:30px;max-width:1240px;"
    "margin:20px 0 4px;font-weight:600;letter-spacing:-.01em}\n"
    "section{margin-top:24px;border-top:1px solid var(--line);padding-top:12px}"
    ".scroll{overflow-x:auto;margin-top:8px}table{border-collapse:collapse;width:100%}"
    "th,td{padding:6px 16px 6px 0;text-align:left;vertical-align:top;border-bottom:1px solid "
    "var(--line)}thead th{color:var(--ink3);font-weight:400;font-size:12px;white-space:nowrap}"
    "tbody th{font-weight:500}.r{text-align:right;white-space:nowrap}.wrap{min-width:240px}"
    ".mono,pre,code{font:12px/20px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',"
    "monospace}.wide{word-break:break-word;min-width:180px}\n"
    ".chip{padding:1px 6px;border-radius:2px;font-size:11px;border:1px solid var(--edge);"
    "white-space:nowrap}.FASTER{background:var(--good-bg);color:var(--good);border-color:"
    "transparent}.SLOWER{background:var(--bad);color:var(--well);border-color:transparent}"
    ".DISAGREES{background:var(--bad);color:var(--well);border-color:var(--bad)}"
    ".AMBIGUOUS{background:var(--warn-bg);color:var(--warn);border-color:var(--warn)}\n"
    ".well{background:var(--well);border:1px solid var(--line);border-radius:3px;"
    "padding:8px 0;overflow-x:auto;margin-top:8px}.code{list-style:none}.code li{display:flex;"
    "white-space:pre;padding:0 12px}.code .ln{width:44px;flex:none;color:var(--ink3);"
    "text-align:right;padding-right:12px;user-select:none}.code .hit{box-shadow:inset 3px 0 0 "
    "var(--break);background:var(--bad-bg)}.code .why{color:var(--break);white-space:normal;"
    "font-family:inherit}.fault{border-color:var(--bad);padding:12px}\n"
    ".two{display:grid;grid-template-columns:1fr 1fr;gap:0 32px}figure svg{width:100%;"
    "height:auto;display:block}figcaption{font-weight:600;margin-bottom:4px}"
    "svg text{fill:var(--ink2);font-size:11px;font-family:inherit}svg .grid{stroke:var(--line)}"
    "svg .one{stroke:var(--edge)}svg .s{fill:none;stroke-width:1.75}svg .w{stroke-width:1.25}\n"
    ".c-eager{stroke:var(--eager)}.c-lazy{stroke:var(--lazy)}.c-static{stroke:var(--static)}"
    ".c-dynamic{stroke:var(--dynamic)}.c-auto{stroke:var(--auto)}.c-graphs{stroke:var(--graphs)}"
    ".c-other{stroke:var(--ink2)}.d-lazy{stroke-dasharray:2 3}.d-dynamic{stroke-dasharray:7 3}"
    ".d-auto{stroke-dasharray:7 3 2 3}.d-graphs{stroke-dasharray:2 2}"
    ".d-published{stroke-dasharray:1 3}\n"
    ".gr text{font:11px ui-monospace,monospace;text-anchor:middle;fill:var(--ink)}"
    ".gr .about{font-size:10px;fill:var(--ink3)}.gr .head{display:none}"
    ".gr rect{fill:var(--well);stroke:var(--edge)}.gr .input rect{fill:var(--sunk)}"
    ".gr .label{text-anchor:start;fill:var(--ink2);font-family:inherit;paint-order:stroke;"
    "stroke:var(--well);stroke-width:4px}"
    ".gr .module>rect{fill:var(--ink);fill-opacity:.04}.gr .kernel>rect{fill:var(--fused);"
    "fill-opacity:.1;stroke:var(--fused);stroke-width:1.5}.gr .loop>rect{fill:none;"
    "stroke:var(--ink2);stroke-width:1.5;stroke-dasharray:7 3}"
    ".gr .edge{fill:none;stroke:var(--edge)}.gr marker path{fill:var(--edge)}"
    "details{margin-top:8px}summary{cursor:pointer}\n"
    "footer{margin-top:32px;padding-top:12px;border-top:1px solid var(--line);color:var(--ink3)}"
    "@media(max-width:900px){.two{grid-template-columns:minmax(0,1fr)}}"
    "@media(max-width:640px){body{padding:0 16px 24px}.verdict{font-size:19px;line-height:26px}"
    /* Texts of a chart have 11 px at this width: it scrolls.  One with few texts fits. */
    "figure{overflow-x:auto}figure svg{width:760px}figure svg.fit{width:100%}"
    ".fit text{font-size:22px}.fit circle{r:8px}svg.fit .w{stroke-width:2.5}}"
    "@media print{body{background:#fff}}\n";

void html_begin(struct out *o, const char *title)
{
	out_puts(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	out_xml(o, title);
	out_puts(o, "</title>\n<style>\n");
	out_puts(o, style);
	out_puts(o, "</style>\n</head>\n<body>\n<main>\n");
}

void html_end(struct out *o, const char *version)
{
	out_puts(o, "</main>\n<footer>Written by Breakeven ");
	out_xml(o, version);
	out_puts(o,
		 "; figures are medians with their 95 % intervals.</footer>\n</body>\n</html>\n");
}

double html_step(double span, int most)
{
	double raw = span / most, power = pow(10, floor(log10(raw)));

	return raw / power <= 1   ? power
	       : raw / power <= 2 ? 2 * power
	       : raw / power <= 5 ? 5 * power
				  : 10 * power;
}
