// Runs every registered unit test, prints each by name, and closes with what contrib/check counts. With an argument
// only the suites whose names contain it.

#include <cppunit/BriefTestProgressListener.h>
#include <cppunit/CompilerOutputter.h>
#include <cppunit/TestResult.h>
#include <cppunit/TestResultCollector.h>
#include <cppunit/TestRunner.h>
#include <cppunit/extensions/TestFactoryRegistry.h>

#include <iostream>

int main(int argc, char **argv) {
  CppUnit::TestResult controller;
  CppUnit::TestResultCollector results;
  CppUnit::BriefTestProgressListener progress;
  controller.addListener(&results);
  controller.addListener(&progress);

  CppUnit::Test *all = CppUnit::TestFactoryRegistry::getRegistry().makeTest();
  CppUnit::TestRunner runner;
  runner.addTest(all);
  for (int i = 0; argc > 1 && i < all->getChildTestCount(); ++i)
    if (all->getChildTestAt(i)->getName().find(argv[1]) != std::string::npos) all->getChildTestAt(i)->run(&controller);
  if (argc == 1) runner.run(controller);

  CppUnit::CompilerOutputter(&results, std::cerr).write();
  const int failed = results.testFailuresTotal();
  std::cout << results.runTests() - failed << " passed, " << failed << " failed\n";
  return failed == 0 && results.runTests() > 0 ? 0 : 1;
}
