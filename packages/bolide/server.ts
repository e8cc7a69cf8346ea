/** `meteor/bolide:bolide` on the server: what `bolide/meteor` exports, with Meteor's objects handed in. */
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { WebApp } from 'meteor/webapp';
import type {
  BolideOptions,
  ExposedMethod,
  ExposeOptions,
  MeteorHost,
  MeteorPackages,
  MethodTools,
} from 'bolide/meteor';

/** The options of `startBolide` but Meteor's objects. */
export type StartOptions = Omit<BolideOptions, keyof MeteorPackages>;

/** Starts Bolide. To be called once, in `Meteor.startup` or with a top-level `await`. */
export async function startBolide(options: StartOptions = {}): Promise<MeteorHost> {
  const packages = { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match };
  return loadBolide().startBolide({ ...packages, ...options });
}

/** Offers the app's methods to runs and over MCP. To be called before `startBolide`. */
export function exposeMethods(options: ExposeOptions): void {
  loadBolide().exposeMethods(options);
}

/** @returns the app's method as a tool for `startBolide({ tools })` */
export function exposeMethod(method: string, options: ExposedMethod): ReturnType<MethodTools['expose']> {
  const { MethodTools: Tools } = loadBolide();
  return new Tools({ Meteor, DDP, DDPRateLimiter }).expose(method, options);
}

/** The versions of the npm package that this one works with. */
const PEER = '0.3';

/** The npm package belongs to the app, which also installs the SDKs of its vendors. */
function loadBolide(): typeof import('bolide/meteor') {
  try {
    // An `import` could not be explained.
    // oxlint-disable-next-line typescript/no-require-imports
    const { version } = require('bolide/package.json') as { readonly version: string };
    if (!version.startsWith(`${PEER}.`))
      throw new Error(
        `bolide:bolide needs version ${PEER} of the npm package bolide, and ${version} is installed. Run: meteor npm install bolide@${PEER}`,
      );
    // oxlint-disable-next-line typescript/no-require-imports
    return require('bolide/meteor') as typeof import('bolide/meteor');
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error('bolide:bolide needs the npm package bolide. Run: meteor npm install bolide', { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && /'bolide\/(?:meteor|package\.json)'/.test(error.message);
}
