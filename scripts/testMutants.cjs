/**
 * Plants faults one at a time, and says which of them `npm test` finds.
 *
 *   npm run test:mutants                    all faults of tests/mutants/plantedFaults.ts
 *   npm run test:mutants -- ui retry        those whose layer, file or name has one of the words
 *
 * Fails if one is missed.
 */
'use strict';

require('../tests/runner/loadSources.cjs');
const { editOf, findFault } = require('../tests/mutants/findFault.cjs');
const { PLANTED_FAULTS } = require('../tests/mutants/plantedFaults.ts');

async function main() {
  const words = process.argv.slice(2);
  const faults = PLANTED_FAULTS.filter(
    ({ layer, file, name }) => words.length === 0 || words.some((word) => `${layer} ${file} ${name}`.includes(word)),
  );
  if (faults.length === 0) throw new Error(`No fault has ${words.join(' or ')} in its layer, file or name.`);
  const missed = [];
  for (const fault of faults) {
    const startedAt = performance.now();
    const found = await findFault([editOf(fault)]);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (found === undefined) missed.push(fault);
    console.log(
      found === undefined
        ? `✘ missed, ${seconds} s: ${fault.name} (${fault.file})`
        : `✔ found, ${seconds} s: ${fault.name}\n    ${found.file}: ${found.title}`,
    );
  }
  for (const { name, file, shows } of missed) console.log(`\nMissed: ${name} (${file})\n    ${shows}`);
  console.log(`\ntest:mutants: ${faults.length - missed.length} of ${faults.length} faults found`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
