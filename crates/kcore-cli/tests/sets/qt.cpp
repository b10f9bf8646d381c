// Values of Qt's types, for releases 5 and 6.
#include <QByteArray>
#include <QDateTime>
#include <QHash>
#include <QList>
#include <QMap>
#include <QSet>
#include <QSharedPointer>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <QVector>

#include "told.h"

struct Point {
	int x, y;
};

QString text = QStringLiteral("h\u00e9llo"), empty;
QByteArray bytes("raw bytes");
QVector<int> numbers{1, 2, 3};
QStringList words{"one", "two"};
QList<int> list{4, 5};
QMap<int, QString> map{{2, "two"}, {1, "one"}, {3, "three"}};
QMap<int, int> no_map;
QHash<int, int> hash;
QHash<int, int> no_hash;
QSet<int> set{7};
QSharedPointer<Point> shared(new Point{3, 4});
QVariant whole(42), fraction(2.5), word(QString("in it")), nothing;
QDateTime moment = QDateTime::fromMSecsSinceEpoch(1709210096789, Qt::UTC);

int main()
{
	for (int i = 0; i < 20; i++)
		hash.insert(i * 7, i);
	told("text", "\"%s\"", text.toUtf8().constData());
	told("empty", "\"\"");
	told("bytes", "\"%s\"", bytes.constData());
	told("numbers", "[1, 2, 3]");
	told("words", "[\"one\", \"two\"]");
	told("list", "[4, 5]");
	told("map", "{1: \"one\", 2: \"two\", 3: \"three\"}");
	told("no_map", "%s", no_map.isEmpty() ? "{}" : "");
	told("shared->y", "%d", shared->y);
	told("whole.value", "%d", whole.toInt());
	told("fraction.value", "%g", fraction.toDouble());
	told("word.value", "\"%s\"", word.toString().toUtf8().constData());
#if QT_VERSION >= 0x060000
	QMap<int, int> sorted;
	QString all;
	for (auto it = hash.begin(); it != hash.end(); ++it)
		sorted[it.key()] = it.value();
	for (auto it = sorted.begin(); it != sorted.end(); ++it)
		all += QString("%1%2: %3").arg(all.isEmpty() ? "" : ", ").arg(it.key()).arg(it.value());
	told("hash", "{%s}", all.toUtf8().constData());
	told("set", "[7]");
	told("nothing.type", "0x0");
	told("moment", "%lld ms since 1970", moment.toMSecsSinceEpoch());
#endif
#if QT_VERSION >= 0x060000
	told("no_hash", "{}");
#endif
	told_all();
}
