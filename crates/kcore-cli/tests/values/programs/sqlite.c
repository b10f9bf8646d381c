/* Three threads ask databases of their own. One stops the program in a function that the query calls. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"

static atomic_int running;

static void stop(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (count == 1 && sqlite3_value_int(values[0]) == 37 && atomic_load(&running) == 3)
        abort();
    sqlite3_result_int(context, count);
}

static void must(sqlite3 *db, const char *sql)
{
    char *error = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, error);
        exit(1);
    }
}

static void *work(void *stops)
{
    sqlite3 *db;
    sqlite3_open(":memory:", &db);
    must(db, "CREATE TABLE a(id INTEGER PRIMARY KEY, name TEXT, weight REAL);"
             "CREATE TABLE b(id INTEGER, of INTEGER REFERENCES a, note BLOB);"
             "CREATE INDEX by_of ON b(of);"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
             " INSERT INTO a SELECT i, 'row ' || i, i / 7.0 FROM n;"
             "INSERT INTO b SELECT id * 2, id, zeroblob(id % 40) FROM a;");
    if (stops)
        sqlite3_create_function(db, "stop", -1, SQLITE_UTF8, NULL, stop, NULL, NULL);
    atomic_fetch_add(&running, 1);
    for (;;) {
        must(db, "SELECT a.name, count(*), sum(length(note)) FROM a JOIN b ON b.of = a.id"
                 " WHERE a.name LIKE 'row %' GROUP BY a.id ORDER BY weight DESC");
        must(db, stops ? "SELECT stop(a.id) FROM a, b WHERE b.of = a.id + 1 ORDER BY a.weight, note"
                       : "UPDATE a SET weight = (SELECT avg(weight) FROM a WHERE id > 5)");
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(&running);
    return 0;
}
