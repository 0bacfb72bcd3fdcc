# The module csv.

QUOTE_MINIMAL = 0
QUOTE_ALL = 1
QUOTE_NONNUMERIC = 2
QUOTE_NONE = 3


class Error(Exception):
    pass


class reader:
    def __init__(self, csvfile, dialect="excel", *, delimiter=",", quotechar='"', skipinitialspace=False, quoting=QUOTE_MINIMAL):
        self._lines = iter(csvfile)
        self._delimiter = "\t" if dialect == "excel-tab" else delimiter
        self._quote, self._skip, self._quoting = quotechar, skipinitialspace, quoting
        self.line_num = 0

    def __iter__(self):
        return self

    def _line(self):
        self.line_num += 1
        return next(self._lines)

    def __next__(self):
        text = self._line()
        fields, field, quoted, was_quoted, at = [], "", False, False, 0
        while True:
            if at >= len(text):
                if not quoted:
                    break
                text, at = self._line(), 0
                continue
            letter, at = text[at], at + 1
            if quoted:
                if letter != self._quote:
                    field += letter
                elif text[at : at + 1] == self._quote:
                    field, at = field + letter, at + 1
                else:
                    quoted = False
            elif letter == self._quote and field == "" and self._quoting != QUOTE_NONE:
                quoted = was_quoted = True
            elif letter == self._delimiter:
                fields.append(self._taken(field, was_quoted))
                field, was_quoted = "", False
            elif letter == " " and self._skip and field == "":
                pass
            elif letter not in "\r\n":
                field += letter
        if not fields and field == "" and not was_quoted:
            return []
        return fields + [self._taken(field, was_quoted)]

    def _taken(self, field, was_quoted):
        return float(field) if self._quoting == QUOTE_NONNUMERIC and not was_quoted else field


class writer:
    def __init__(self, csvfile, dialect="excel", *, delimiter=",", quotechar='"', lineterminator="\r\n", quoting=QUOTE_MINIMAL):
        self._file, self._delimiter = csvfile, "\t" if dialect == "excel-tab" else delimiter
        self._quote, self._end, self._quoting = quotechar, lineterminator, quoting

    def _text(self, value, alone):
        text = "" if value is None else str(value)
        special = self._delimiter in text or self._quote in text or "\n" in text or "\r" in text
        number = isinstance(value, (int, float))
        if self._quoting == QUOTE_ALL or (self._quoting == QUOTE_NONNUMERIC and not number) or (
            self._quoting == QUOTE_MINIMAL and (special or (alone and text == ""))
        ):
            return self._quote + text.replace(self._quote, self._quote * 2) + self._quote
        return text

    def writerow(self, row):
        row = list(row)
        return self._file.write(self._delimiter.join([self._text(v, len(row) == 1) for v in row]) + self._end)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", *, delimiter=","):
        self.reader = reader(f, dialect, delimiter=delimiter)
        self._names, self.restkey, self.restval = fieldnames, restkey, restval

    @property
    def fieldnames(self):
        if self._names is None:
            self._names = next(self.reader, None)
        return self._names

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while row == []:
            row = next(self.reader)
        made = dict(zip(names, row))
        if len(row) > len(names):
            made[self.restkey] = row[len(names):]
        for name in names[len(row):]:
            made[name] = self.restval
        return made


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", *, delimiter=",", lineterminator="\r\n"):
        self.fieldnames, self.restval, self.extrasaction = list(fieldnames), restval, extrasaction
        self.writer = writer(f, dialect, delimiter=delimiter, lineterminator=lineterminator)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, rowdict):
        wrong = [key for key in rowdict if key not in self.fieldnames]
        if wrong and self.extrasaction == "raise":
            raise ValueError("dict contains fields not in fieldnames: " + ", ".join([repr(k) for k in wrong]))
        return self.writer.writerow([rowdict.get(name, self.restval) for name in self.fieldnames])

    def writerows(self, rowdicts):
        for row in rowdicts:
            self.writerow(row)
