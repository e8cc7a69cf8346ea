/** The published types of Meteor fit what Bolide asks for, and other objects do not. */
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { itInSoak } from '../../../support/soak';

const ROOT = join(__dirname, '../../../..');

const PROGRAM = `
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { WebApp } from 'meteor/webapp';
import type { MethodToolsPackages } from './imports/business/ai/infrastructure/tools/MethodTools';
import type { MeteorPackages } from './imports/host/meteor/MeteorPackages';
import type { BrowserPackages } from './imports/ui/data/meteor/BrowserPackages';
import { createBolide, openCollections } from './imports/entries/meteorClient';
import type {} from './imports/ui/data/meteor/meteorMethods';

export const onServer: MeteorPackages[] = [
  { Meteor, Mongo, WebApp, Accounts },
  { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match },
];
// The declaration of Meteor 3.4.
type Config = (options: { forbidClientAccountCreation?: boolean | undefined; argon2TimeCost: number | undefined }) => void;
declare const Newer: Omit<typeof Accounts, 'config'> & { config: Config };
export const newer: MeteorPackages = { Meteor, Mongo, WebApp, Accounts: Newer };
export const inBrowser: BrowserPackages = { Meteor, Mongo, Tracker };
export const forMethods: MethodToolsPackages = { Meteor, DDP };

const bolide = createBolide({ Meteor });
export const { RunsCollection } = openCollections({ Meteor, Mongo, Tracker });
export async function calls() {
  const { executionId } = await bolide.runs.start({ providerId: 'openai', input: 'Hi', tools: ['clock'] });
  const { runs } = await bolide.runs.list();
  const state: string | undefined = RunsCollection.findOne(executionId)?.state;
  const text: string = await bolide.llm.generateText({ providerId: 'openai', input: 'Hi' });
  return [runs[0]?.cost, text.length, state];
}
export async function wrongCalls() {
  // @ts-expect-error
  await bolide.runs.begin({ providerId: 'openai', input: 'Hi' });
  // @ts-expect-error
  await bolide.runs.start({ provider: 'openai', input: 'Hi' });
  // @ts-expect-error
  await bolide.runs.start();
  // @ts-expect-error
  (await bolide.runs.start({ providerId: 'openai', input: 'Hi' })).runId;
  // @ts-expect-error
  RunsCollection.findOne({ status: 'completed' });
  // @ts-expect-error
  RunsCollection.findOne()?.status;
}

export async function callsByName() {
  const { executionId } = await Meteor.callAsync('ai.runs.start', { providerId: 'openai', input: 'Hi' });
  const state: string = (await Meteor.callAsync('ai.runs.get', { executionId })).run.state;
  const sum: number = await Meteor.callAsync('app.add', 1, 2);
  return [(await Meteor.callAsync('ai.runs.list')).runs[0]?.cost, state, sum];
}
export async function wrongCallsByName() {
  // @ts-expect-error
  (await Meteor.callAsync('ai.runs.start', { provider: 'openai', input: 'Hi' })).executionId;
  // @ts-expect-error
  (await Meteor.callAsync('ai.runs.start')).executionId;
  // @ts-expect-error
  (await Meteor.callAsync('ai.runs.start', { providerId: 'openai', input: 'Hi' })).runId;
}

// @ts-expect-error
export const noAccounts: MeteorPackages = { Meteor, Mongo, WebApp };
// @ts-expect-error
export const swapped: MeteorPackages = { Meteor, Mongo: Meteor, WebApp, Accounts };
// @ts-expect-error
export const serverless: MeteorPackages = { Meteor, Mongo, WebApp: {}, Accounts };
// @ts-expect-error
export const limiter: MeteorPackages = { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter: Tracker };
// @ts-expect-error
export const checked: MeteorPackages = { Meteor, Mongo, WebApp, Accounts, check: Match, Match };
// @ts-expect-error
export const noTracker: BrowserPackages = { Meteor, Mongo };
// @ts-expect-error
export const tracked: BrowserPackages = { Meteor, Mongo, Tracker: Meteor };
// @ts-expect-error
export const noDDP: MethodToolsPackages = { Meteor };
// @ts-expect-error
export const methods: MethodToolsPackages = { Meteor: Tracker, DDP };
`;

describe("Meteor's published types", () => {
  itInSoak('fit the objects that an app hands in, and no others do', () => {
    const file = join(ROOT, 'meteor-types.ts');
    const config: unknown = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config;
    const { options } = ts.parseJsonConfigFileContent({ ...(config as object), include: [], files: [] }, ts.sys, ROOT);
    options.types = ['node', 'meteor'];
    const host = ts.createCompilerHost(options);
    const getSourceFile = host.getSourceFile.bind(host);
    host.getSourceFile = (name, language, ...rest) =>
      name === file ? ts.createSourceFile(name, PROGRAM, language) : getSourceFile(name, language, ...rest);
    const program = ts.createProgram([file], options, host);
    const source = program.getSourceFile(file);
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    expect(
      problems.map(({ messageText, start = 0 }) => {
        const line = source?.getLineAndCharacterOfPosition(start).line ?? 0;
        return `${PROGRAM.split('\n')[line] ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      }),
    ).to.deep.equal([]);
  });
});
