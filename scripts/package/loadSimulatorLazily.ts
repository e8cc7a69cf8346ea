/** Moves the vendor simulator into a file of its own, which is loaded when it is first used. */
import type { Plugin } from 'rolldown';

/** Tests run as CommonJS through a `require` hook, which does not see `import()`, so the source has a `require`. */
const SIMULATOR = { source: "require('./simulatedVendors')", instead: "import('./simulatedVendors')" };
/** The package contains OpenAI's SDK, which would only be loaded to see whether it is there. */
const SDK = { source: "await import('openai');", instead: '' };

export function loadSimulatorLazily(): Plugin {
  return {
    name: 'bolide:lazy-simulator',
    transform: {
      filter: { id: /imports\/host\/(?:simulation|simulatedVendors)\.ts$/ },
      handler(code, id) {
        const { source, instead } = id.endsWith('/simulation.ts') ? SIMULATOR : SDK;
        if (!code.includes(source)) throw new Error(`Expected ${source} in ${id}.`);
        return code.replace(source, instead);
      },
    },
  };
}
