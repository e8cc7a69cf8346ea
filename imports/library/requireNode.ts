/** What `engines` in package.json says. */
const MINIMUM: readonly [number, number] = [22, 13];

/** Runtimes other than Node lack some of it. */
const { process }: { readonly process?: { readonly versions?: { readonly node?: string } } } = globalThis;

/** @throws Error in a Node that is too old. Other runtimes are not checked */
export function requireNode(version = process?.versions?.node): void {
  if (version === undefined) return;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return;
  throw new Error(
    `Bolide requires Node.js ${MINIMUM.join('.')} or newer, but this is ${version}. Install a newer version from https://nodejs.org.`,
  );
}
