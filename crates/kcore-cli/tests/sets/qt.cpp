// Values of Qt's types, for releases 5 and 6.
#include <QByteArray>
#include <QDate>
#include <QDateTime>
#include <QHash>
#include <QList>
#include <QMap>
#include <QSet>
#include <QSharedPointer>
#include <QString>
#include <QStringView>
#include <QStringList>
#include <QTime>
#include <QUuid>
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
QDateTime local(QDate(2024, 2, 29), QTime(1, 2, 3)), no_moment;
QDate date(2024, 2, 29), no_date;
QTime of_day(12, 34, 56, 789), no_time;
QUuid number("{67C8770B-44F1-410A-AB9A-F9B5446F13EE}");
enum Access { Read = 1, Write = 2, Execute = 4 };
Q_DECLARE_FLAGS(Rights, Access)
Rights rights = Rights(Read | Execute);
QStringView view(text);
QHash<QString, int> named;

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
	QMap<int, int> sorted;
	QString all;
	for (auto it = hash.begin(); it != hash.end(); ++it)
		sorted[it.key()] = it.value();
	for (auto it = sorted.begin(); it != sorted.end(); ++it)
		all += QString("%1%2: %3").arg(all.isEmpty() ? "" : ", ").arg(it.key()).arg(it.value());
	told("hash", "{%s}", all.toUtf8().constData());
	told("set", "[7]");
#if QT_VERSION >= 0x060000
	told("nothing.type", "0x0");
	told("view", "\"%s\"", view.toUtf8().constData());
#endif
	told("no_hash", "{}");
	named.insert("one", 1);
	told("named", "{\"one\": 1}");
	told("hash[21]", "%d", hash.value(21));
	told("date", "%s", date.toString(Qt::ISODate).toUtf8().constData());
	told("no_date", "no date");
	told("of_day", "%s", of_day.toString("hh:mm:ss.zzz").toUtf8().constData());
	told("no_time", "no time");
	told("moment", "%s UTC", moment.toString("yyyy-MM-dd hh:mm:ss.zzz").toUtf8().constData());
	told("local", "%s local time", local.toString("yyyy-MM-dd hh:mm:ss.zzz").toUtf8().constData());
	told("no_moment", "no moment");
	told("number", "%s", number.toString().toUtf8().constData());
	told("rights", "5");
	told_all();
}
