// Writes and reads a database while a thread of it compacts. A comparison of keys stops the program.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/write_batch.h"

namespace {

class Stopping : public leveldb::Comparator {
 public:
  int Compare(const leveldb::Slice& one, const leveldb::Slice& other) const override {
    if (stops_ && --left_ == 0) std::abort();
    return one.compare(other);
  }
  const char* Name() const override { return "stopping"; }
  void FindShortestSeparator(std::string*, const leveldb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  mutable int left_ = 300;
  bool stops_ = false;
};

std::map<std::string, int> g_counts{{"read", 3}, {"written", 4000}};
std::vector<std::string> g_names{"first", "second", std::string(40, 'n')};

}  // namespace

int main() {
  Stopping order;
  leveldb::Options options;
  options.create_if_missing = true;
  options.comparator = &order;
  options.write_buffer_size = 1 << 16;
  options.filter_policy = leveldb::NewBloomFilterPolicy(10);
  leveldb::DB* opened = nullptr;
  leveldb::Status status = leveldb::DB::Open(options, "database", &opened);
  std::unique_ptr<leveldb::DB> db(opened);
  for (int i = 0; i < 4000; i++) {
    leveldb::WriteBatch batch;
    batch.Put("key" + std::to_string(i * 7919 % 4000), std::string(i % 90, 'v'));
    status = db->Write(leveldb::WriteOptions(), &batch);
    if (i == 3990) order.stops_ = true;
  }
  std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
  for (it->Seek("key3"); it->Valid(); it->Next()) g_counts["read"] += it->value().size();
  return 0;
}
