/** Tries each literal form of the specification, and compares those that differ with the page that lists them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import { ToolExecutionLoop } from '../../../imports/business/ai/application/services/ToolExecutionLoop';
import { TOOL_CALL_TRANSITIONS } from '../../../imports/business/ai/domain/entities/Tool';
import * as errors from '../../../imports/business/ai/domain/errors/LLMErrors';
import * as steps from '../../../imports/business/ai/domain/run/nextStep';
import { GeminiAdapter } from '../../../imports/business/ai/infrastructure/tools/adapters/GeminiAdapter';
import { UnifiedStreamAdapter } from '../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { settingsFromEnvironment } from '../../../imports/host/settings/vendors';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { eventFields } from '../../support/docs/eventFields';
import { readPage, ROOT, tableRowsOf } from '../../support/docs/markdown';

const PAGE = 'docs/reference/specification-forms.md';
const AI = 'imports/business/ai';
const PROVIDERS = 'imports/business/providers';

function source(path: string): string {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
}

function doesNotThrow(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

async function toolEvent(): Promise<Readonly<Record<string, unknown>>> {
  const provider = new ScriptedProvider([calling({ name: 'clock' }), answer('Noon.')]);
  const toolExecutor = new ToolRegistry().register({ name: 'clock', execute: () => 'noon' });
  const loop = new AgenticLoop({ provider, toolExecutor });
  let event: object = {};
  loop.on('tool:completed', (each) => (event = each));
  await loop.execute('ann', { model: 'm', input: 'Time?', tools: ['clock'] });
  return event as Readonly<Record<string, unknown>>;
}

const session = {
  initialResponse: 'Noon.',
  adapter: {
    getToolCalls: () => [],
    recordAssistantMessage: () => undefined,
    buildToolResponseMessage: () => '',
    sendToolResponses: () => Promise.resolve(''),
  },
};

/** Whether a form is as specified. A form that differs is worded as the page words it. */
const FORMS: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  '`ToolExecutionLoop.run({ initialResponse, adapter })`': async () =>
    (await new ToolExecutionLoop({ toolExecutor: new ToolRegistry() }).run(session)).response === 'Noon.',
  "`new UnifiedStreamAdapter('anthropic')`": () => doesNotThrow(() => new UnifiedStreamAdapter('anthropic')),
  '`validateAccess()` resolves with `{ valid }`': async () =>
    (await new LLMManager({ provider: new ScriptedProvider() }).validateAccess('ann')).valid,
  '`execute()` resolves with `output_text`': async () => {
    const loop = new AgenticLoop({ provider: new ScriptedProvider([answer('Hi')]), toolExecutor: new ToolRegistry() });
    return (await loop.execute('ann', { model: 'm', input: 'Hi' })).output_text === 'Hi';
  },
  '`toolCall.function.name`': async () => {
    const { toolCall } = (await toolEvent()) as { readonly toolCall: { readonly function: { readonly name: string } } };
    return toolCall.function.name === 'clock';
  },
  '`ToolAdapter.buildToolResponseMessage(result)`': () => GeminiAdapter.prototype.buildToolResponseMessage.length === 1,
  '`ToolAdapter.sendToolResponses(messages)`': () => GeminiAdapter.prototype.sendToolResponses.length === 1,
  '`toolCall` in the payloads of `tool:*` events': async () => Object.keys(await toolEvent()).includes('toolCall'),
  'constructors take one argument after another': () =>
    doesNotThrow(() => Reflect.construct(AgenticLoop, [new ScriptedProvider(), new ToolRegistry()])),
  "the loop's step is `decide(response, pending, limits)` with `use-tools`, `wait`, `answer`, `stop`": () =>
    'decide' in steps,
  'one `Execution` object per run': () => source(`${AI}/domain/entities/Execution.ts`) !== '',
  'a bare provider is wrapped in an `LLMManager`': () =>
    source(`${AI}/application/services/AgenticLoop.ts`).includes('new LLMManager('),
  'the events of a run as listed': () => !eventFields().has('llm:retry'),
  '`tool:*` events name a call': async () => (await toolEvent()).callId === undefined,
  'the stream events as listed': () => !source(`${AI}/domain/types/StreamEvents.ts`).includes("'vendor.event'"),
  'the states of a tool call as listed': () => !('needs_review' in TOOL_CALL_TRANSITIONS),
  'the error classes as listed': () => !('MaxTakeoversError' in errors),
  'the port `MemoryStore`': () => source(`${AI}/domain/interfaces/MemoryStore.ts`) !== '',
  'an `OutputChannel` per conversation that takes text': () =>
    !/begin\(/.test(source(`${AI}/domain/interfaces/OutputChannel.ts`)),
  '`LLM_PROVIDER` is `openai` by default': () =>
    settingsFromEnvironment({ ANTHROPIC_API_KEY: 'k' }).defaultProvider === 'openai',
  '`Provider.access` is `admins`, `everyone`, or a list': () =>
    !/readonly kind:/.test(source(`${PROVIDERS}/domain/entities/Provider.ts`)),
  '`Provider.defaultModel` is required': () =>
    /readonly defaultModel: string/.test(source(`${PROVIDERS}/domain/entities/Provider.ts`)),
  'the entity `Credential`': () => source(`${PROVIDERS}/domain/entities/Credential.ts`) !== '',
  '`getAccessToken({ providerId, userId })` returns a token': () =>
    /getAccessToken\([^)]*\): Promise<string/.test(source(`${AI}/domain/interfaces/CredentialSource.ts`)),
  '`ai.runs.approve`, `ai.runs.reject` return a state, `ai.runs.submitToolResult` a word': () =>
    !/executionId/.test(source(`${AI}/application/operations/runCommandOperations.ts`)),
};

describe('The forms of the specification', () => {
  it('are listed if they differ, and only then', async () => {
    const { path, text } = readPage(PAGE);
    const [, differences = ''] = text.split('## What differs');
    const [, , ...listed] = tableRowsOf({ path, text: differences }).map(([form = '']) => form);
    const differing: string[] = [];
    for (const [form, isAsSpecified] of Object.entries(FORMS)) if (!(await isAsSpecified())) differing.push(form);
    expect(listed.toSorted()).to.deep.equal(differing.toSorted());
  });
});
