"""Small files exactly as R, pandas and others write them."""

IRIS = [
    (5.1, 3.5, "setosa"),
    (4.9, 3.0, "setosa"),
    (6.4, 3.2, "versicolor"),
    (6.9, 3.1, "versicolor"),
    (7.1, 2.25, "virginica"),
]
VALUES = [list(row[:2]) for row in IRIS]
SPECIES = [row[2] for row in IRIS]

# > write.csv(iris, "iris.csv")
R_WRITE_CSV = '"","Sepal.Length","Sepal.Width","Species"\n' + "".join(
    f'"{k}",{a:g},{b:g},"{s}"\n' for k, (a, b, s) in enumerate(IRIS, 1)
)
# > write.csv2(iris, "iris.csv")
R_WRITE_CSV2 = '"";"Sepal.Length";"Sepal.Width";"Species"\n' + "".join(
    f'"{k}";{a:g};{b:g};"{s}"\n'.replace(".", ",") for k, (a, b, s) in enumerate(IRIS, 1)
)
# > write.table(iris, "iris.txt")
R_WRITE_TABLE = '"Sepal.Length" "Sepal.Width" "Species"\n' + "".join(
    f'"{k}" {a:g} {b:g} "{s}"\n' for k, (a, b, s) in enumerate(IRIS, 1)
)
# > write.table(iris, "iris.txt", dec=",", sep="\t", quote=FALSE)
R_WRITE_TABLE_EU = "Sepal.Length\tSepal.Width\tSpecies\n" + "".join(
    f"{k}\t{a:g}\t{b:g}\t{s}\n".replace(".", ",") for k, (a, b, s) in enumerate(IRIS, 1)
)


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
