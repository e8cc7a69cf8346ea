/** Moves the vendor simulator into a file of its own, which is loaded when it is first used. */
import type { Plugin } from 'rolldown';

const SOURCE = "require('./simulatedVendors')";

/** Tests run as CommonJS through a `require` hook, which does not see `import()`, so the source has a `require`. */
export function loadSimulatorLazily(): Plugin {
  return {
    name: 'bolide:lazy-simulator',
    transform: {
      filter: { id: /imports\/host\/simulation\.ts$/ },
      handler(code) {
        if (!code.includes(SOURCE)) throw new Error(`Expected ${SOURCE} in imports/host/simulation.ts.`);
        return code.replace(SOURCE, "import('./simulatedVendors')");
      },
    },
  };
}
