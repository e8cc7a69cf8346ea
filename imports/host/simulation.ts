/** The vendor simulator as both hosts use it without a vendor's key. It is loaded only then. */
export const SIMULATION_NOTICE =
  'SIMULATED: no vendor key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), so responses come from a local simulator, not from a model.';

/** @returns the module; the npm package's build replaces `require` by `import()`, which is a separate file there */
export function loadSimulatedVendors(): Promise<typeof import('./simulatedVendors')> {
  // oxlint-disable-next-line typescript/no-require-imports
  return Promise.resolve(require('./simulatedVendors') as typeof import('./simulatedVendors'));
}
