/** For mocha: what a test of `npm test` may not do fails at the place where it is done. */
import childProcess, { ChildProcess } from 'node:child_process';
import dns from 'node:dns';
import { BlockList, isIP, Socket } from 'node:net';

type Method = (...args: never[]) => unknown;

/** Replaces a method by one that asks first. */
function guard<Name extends string>(
  target: Record<Name, Method>,
  name: Name,
  refusalOf: (...args: unknown[]) => string | undefined,
): void {
  const original = target[name];
  target[name] = function (this: unknown, ...args: never[]) {
    const refusal = refusalOf(...args);
    if (refusal !== undefined) throw new Error(refusal);
    return Reflect.apply(original, this, args);
  };
}

const NO_PROCESS = 'npm test starts no process: a test that needs one belongs in tests/smoke or tests/soak.';

let isGuarded = false;

export const mochaHooks = {
  // Before each file, in the process that runs it.
  beforeAll(): void {
    if (isGuarded || process.env['BOLIDE_SUITE'] !== 'test') return;
    isGuarded = true;
    // Spawning, forking and executing come to this one method, but for the synchronous ones.
    guard(ChildProcess.prototype as unknown as Record<'spawn', Method>, 'spawn', () => NO_PROCESS);
    for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const)
      guard(childProcess as unknown as Record<typeof name, Method>, name, () => NO_PROCESS);
    guard(Socket.prototype as unknown as Record<'connect', Method>, 'connect', refusalToConnect);
    guard(dns as unknown as Record<'lookup', Method>, 'lookup', (host) => refusalOf(host));
  },
};

/** @param target of `Socket.connect`, which also takes options in an array, with the listener */
function refusalToConnect(target: unknown): string | undefined {
  const options: unknown = Array.isArray(target) ? target[0] : target;
  const host = (options as { readonly host?: unknown } | null)?.host;
  // Names are looked up, perhaps by the test itself.
  return typeof host === 'string' && isIP(host) !== 0 ? refusalOf(host) : undefined;
}

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8);
thisMachine.addAddress('0.0.0.0');
thisMachine.addAddress('::1', 'ipv6');
thisMachine.addAddress('::', 'ipv6');

function refusalOf(host: unknown): string | undefined {
  const name = String(host);
  if (name === 'localhost' || (isIP(name) !== 0 && thisMachine.check(name, isIP(name) === 4 ? 'ipv4' : 'ipv6')))
    return undefined;
  return `npm test reaches nothing but this machine: ${name} was asked for.`;
}
