/**
 * Starts a server program in plain Node: `node serverProgram.cjs program.js [folder]`. `meteor/*` is the stubs. Modules
 * below the folder are those that the classic bundler compiled, whose packages are found by its rules. Prints what the
 * program answered as a line of JSON, and ends.
 */
import Module, { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { enable } from '@meteorjs/reify/lib/runtime';
import * as accounts from 'meteor/accounts-base';
import * as check from 'meteor/check';
import * as ddp from 'meteor/ddp';
import * as rateLimiter from 'meteor/ddp-rate-limiter';
import * as ejson from 'meteor/ejson';
import * as meteor from 'meteor/meteor';
import * as mongo from 'meteor/mongo';
import * as random from 'meteor/random';
import * as webapp from 'meteor/webapp';
import { DdpClient } from '../../stubs/server/DdpClient';
import { registry } from '../../stubs/server/registry';
import { resolveClassically } from './resolveClassically';

const PACKAGES: Readonly<Record<string, object>> = {
  'meteor/accounts-base': accounts,
  'meteor/check': check,
  'meteor/ddp': ddp,
  'meteor/ddp-rate-limiter': rateLimiter,
  'meteor/ejson': ejson,
  'meteor/meteor': meteor,
  'meteor/mongo': mongo,
  'meteor/random': random,
  'meteor/webapp': webapp,
};

const ADMIN = { email: 'admin@example.com', password: 'a long password' };

/** What the program answered. */
export interface ServerAnswers {
  /** The status and the content type of `/`, which is Meteor's page. */
  readonly page: string;
  /** The status of `/health`, a route of Bolide. */
  readonly health: number;
  /** The answer of `ai.llm.generateText`, with a vendor's SDK and the simulator. */
  readonly text: unknown;
}

interface Loader {
  _load: (request: string, parent: NodeModule | undefined, isMain: boolean) => unknown;
  _resolveFilename: (request: string, parent: NodeModule | undefined, ...rest: readonly unknown[]) => string;
  readonly prototype: object;
}

/** Makes `meteor/*` the stubs, and everything else what the classic bundler finds for modules below `compiled`. */
function installLoader(compiled: string | undefined): void {
  const loader = Module as unknown as Loader;
  const { _load: load, _resolveFilename: resolve } = loader;
  loader._load = (request, parent, isMain) => PACKAGES[request] ?? load(request, parent, isMain);
  if (compiled === undefined) return;
  loader._resolveFilename = (request, parent, ...rest) => {
    const isCompiled = parent?.filename.startsWith(compiled) === true;
    if (request in PACKAGES) return request;
    if (!isCompiled || /^[./]/.test(request) || Module.isBuiltin(request)) return resolve(request, parent, ...rest);
    const found = resolveClassically(request, 'os', path.join(process.cwd(), 'node_modules'));
    // The message is Meteor's.
    if (found === undefined) throw new Error(`Cannot find module '${request}'`);
    return found;
  };
  enable(loader.prototype);
  Object.assign(loader.prototype, {
    resolve(this: NodeModule, request: string) {
      return loader._resolveFilename(request, this);
    },
    // Meteor's returns the namespace of an ES module, whose default export a CommonJS package is.
    async dynamicImport(this: NodeModule, request: string) {
      const exported = (await this.require(request)) as object;
      return '__esModule' in exported ? exported : { ...exported, default: exported };
    },
  });
}

async function answersOf(program: string): Promise<ServerAnswers> {
  const { Meteor } = meteor;
  Meteor.settings = {
    public: {},
    ai: { secrets: 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', admins: [ADMIN.email], firstUser: ADMIN },
  };
  const started: Promise<unknown>[] = [];
  Object.assign(Meteor, {
    startup: (callback: () => unknown) => started.push(Promise.resolve().then(callback)),
  });
  createRequire(program)(program);
  if (started.length === 0) throw new Error('The program has registered nothing to run at the start.');
  await Promise.all(started);
  const { httpServer } = webapp.WebApp;
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`;
  const [user] = registry.collections.get('users')?.select({}) ?? [];
  const client = new DdpClient({ userId: String(user?._id) });
  const [page, health, text] = await Promise.all([
    fetch(url),
    fetch(`${url}/health`),
    client.callAsync('ai.llm.generateText', { requestId: 'r1', providerId: 'openai', input: 'Hello!' }),
  ]);
  return { page: `${page.status} ${page.headers.get('content-type') ?? ''}`, health: health.status, text };
}

const [program = '', compiled] = process.argv.slice(2);
installLoader(compiled);
answersOf(program).then(
  (answers) => {
    process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit(0));
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
