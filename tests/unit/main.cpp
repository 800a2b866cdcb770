// Runs every registered unit test, prints each by name, and closes with what contrib/check counts.

#include <cppunit/BriefTestProgressListener.h>
#include <cppunit/CompilerOutputter.h>
#include <cppunit/TestResult.h>
#include <cppunit/TestResultCollector.h>
#include <cppunit/TestRunner.h>
#include <cppunit/extensions/TestFactoryRegistry.h>

#include <iostream>

int main() {
  CppUnit::TestResult controller;
  CppUnit::TestResultCollector results;
  CppUnit::BriefTestProgressListener progress;
  controller.addListener(&results);
  controller.addListener(&progress);

  CppUnit::TestRunner runner;
  runner.addTest(CppUnit::TestFactoryRegistry::getRegistry().makeTest());
  runner.run(controller);

  CppUnit::CompilerOutputter(&results, std::cerr).write();
  const int failed = results.testFailuresTotal();
  std::cout << results.runTests() - failed << " passed, " << failed << " failed\n";
  return failed == 0 && results.runTests() > 0 ? 0 : 1;
}
