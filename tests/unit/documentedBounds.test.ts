/** The table of what one user can make the server hold has the numbers of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The value of a constant or a field that is written as a number or a product of numbers. */
function numberIn(path: string, name: string): number {
  const written = new RegExp(String.raw`\b${name}\??(?:: number)?(?: =|:) ([\d_]+(?: \*\*? [\d_]+)*)[,;\n ]`).exec(
    read(path),
  )?.[1];
  if (written === undefined) throw new Error(`${path} has no number ${name}.`);
  const factors = written.split(' * ').map((factor) => {
    const [base = 0, exponent = 1] = factor.split(' ** ').map((digits) => Number(digits.replaceAll('_', '')));
    return base ** exponent;
  });
  return factors.reduce((product, factor) => product * factor, 1);
}

const AI = 'imports/business/ai';
const EVENTS = `${AI}/infrastructure/events`;
const SERVICES = `${AI}/application/services`;
const BACKGROUND = 'imports/api/gateway/responses/BackgroundResponses.ts';
const SOCKET = 'imports/api/gateway/responses/websocket/ResponseSocket.ts';
const TRANSPORT = `${AI}/domain/types/VendorTypes.ts`;
const HTTP = 'imports/api/createHttpApi.ts';
const USER = 'imports/business/limits/domain/UserLimits.ts';
const COUNTING = `${AI}/infrastructure/tokens/countTextTokens.ts`;

const plain = (path: string, name: string): string => numberIn(path, name).toLocaleString('en');
const kilo = (path: string, name: string): string => String(numberIn(path, name) / 1024);
const mega = (path: string, name: string): string => String(numberIn(path, name) / 1024 ** 2);
const seconds = (path: string, name: string): string => String(numberIn(path, name) / 1_000);
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five'];
const word = (path: string, name: string): string => WORDS[numberIn(path, name)] ?? '';

/** What the rows state, in their order. */
const ROWS: Readonly<Record<string, () => string>> = {
  'requests that wait for the event loop': () =>
    `${plain('imports/business/limits/application/UserPacer.ts', 'MAX_WAITING')} in each process`,
  'requests in progress, open streams and sockets, messages that wait': () =>
    `${plain(USER, 'parallelCalls')}, ${plain(USER, 'connections')} and ${plain(USER, 'queuedMessages')} in all processes`,
  'a body or WebSocket message': () =>
    `${mega(HTTP, 'maxBodyBytes')} MB, ${plain(HTTP, 'maxJsonValues')} JSON values, ${plain(HTTP, 'maxJsonDepth')} levels`,
  'one call, history included': () =>
    `${mega(`${SERVICES}/normalizer/PlainReader.ts`, 'MAX_TEXT')} M characters, ${plain(`${SERVICES}/normalizer/PlainReader.ts`, 'MAX_VALUES')} values`,
  'a WebSocket': () => `up to ${word(SOCKET, 'MAX_WAITING')} in ${kilo(SOCKET, 'MAX_WAITING_BYTES')} KB`,
  'a stream that is not read': () =>
    `${kilo(`${AI}/infrastructure/clients/http/ResponseBody.ts`, 'MAX_BUFFERED_BYTES')} KB`,
  '`/api/output/stream` that is not read': () =>
    `${mega('imports/api/conversations/conversationRoutes.ts', 'MAX_BUFFERED_BYTES')} MB`,
  '`/api/runs/stream` that is not read': () => `${mega('imports/api/runs/runEventStream.ts', 'maxBufferedLength')} MB`,
  'events of runs to resume from': () =>
    `${plain(`${EVENTS}/RunEventLog.ts`, 'events')} and ${mega(`${EVENTS}/RunEventLog.ts`, 'characters')} M characters; ` +
    `${mega(`${EVENTS}/RunEventLog.ts`, 'totalCharacters')} M of all users`,
  'idle channels of conversations': () =>
    `${plain(`${EVENTS}/ConversationChannels.ts`, 'channelsPerUser')} with ` +
    `${kilo(`${EVENTS}/ConversationChannel.ts`, 'characters')} K characters each; ` +
    `${plain(`${EVENTS}/ConversationChannels.ts`, 'channels')} of all users`,
  'unfinished background responses': () =>
    `${plain(BACKGROUND, 'MAX_RUNNING_PER_USER')}, with ${mega(BACKGROUND, 'MAX_BYTES_PER_USER')} MB of requests`,
  'dashboard sessions': () => plain('imports/api/dashboard/DashboardSessions.ts', 'MAX_SESSIONS_PER_USER'),
  'API tokens': () => plain('imports/api/tokens/TokenAdministration.ts', 'MAX_TOKENS_PER_USER'),
  'downloads of one request': () =>
    `${mega(TRANSPORT, 'maxMediaBytes')} MiB, ${plain(TRANSPORT, 'maxMediaDownloads')} URLs, ` +
    `${word(`${AI}/infrastructure/providers/MediaDownloads.ts`, 'PARALLEL')} at a time`,
  'schemas that are compiled and checked': () =>
    `one at a time, for ${seconds(`${SERVICES}/schema/SchemaWorkers.ts`, 'timeLimitMs')} seconds of CPU time`,
  'events of runs in progress, for streams': () => `${plain(`${EVENTS}/LiveRunEvents.ts`, 'MAX_RUNS')} runs`,
  'which provider has a response, the tokens of a conversation, the target that serves one': () =>
    `${plain(`${SERVICES}/routing/ResilientProvider.ts`, 'trackedResponses')} each`,
  'counts of tokens without the vendor': () => `${plain(COUNTING, 'MAX_COUNTED')} characters of it are counted`,
  'counted pieces of texts, compiled schemas': () =>
    `${plain(COUNTING, 'MAX_CACHED_SLICES')} pieces, and ${plain(`${SERVICES}/schema/SchemaCompiler.ts`, 'cached')} ` +
    `schemas in each of ${word(`${SERVICES}/schema/SchemaWorkers.ts`, 'size')} threads`,
};

describe('docs/guides/production.md', () => {
  const [, section = ''] = read('docs/guides/production.md').split(
    '## What one user can make the server hold in memory',
  );
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (?<what>[^|]+) \| (?<bound>[^|]+) \|/gm)]
    .map(({ groups }) => [groups?.['what'] ?? '', groups?.['bound'] ?? ''] as const)
    .filter(([what]) => what !== 'what' && !what.startsWith('---'));

  it('has a row for each kind of which the code bounds what one user holds', () => {
    expect(rows.map(([what]) => what)).to.deep.equal(Object.keys(ROWS));
  });

  for (const [what, bound] of rows)
    it(`states the bound of ${what}`, () => {
      expect(bound).to.include(ROWS[what]?.());
    });
});
