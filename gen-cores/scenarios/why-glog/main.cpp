// why-glog: a check of glog fails, after it has logged an error.
#include "truth.h"

#include <glog/logging.h>

namespace app {

FN int add(int used, int size)
{
	if (used > size)
		DIE_IN_AS("app::add", "libglog", CHECK_LE(used, size) << "the table is full");
	return used + 1;
}

FN int fill(int count)
{
	int used = CALL_AS("app::fill", add(count + 8, 3));

	BARRIER();
	return used + 1;
}

} // namespace app

int main(int argc, char **argv)
{
	google::InitGoogleLogging(argv[0]);
	FLAGS_logtostderr = true;
	LOG(ERROR) << "not quite done";
	return CALL(app::fill(argc)) + 1;
}
