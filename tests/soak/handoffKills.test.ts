/**
 * Processes are killed with `kill -9` while one agent hands over to another at a second vendor, an approval is pending
 * and a result is late: the second agent gets both once, on a valid wire.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { textOfContent } from '../../imports/business/ai/domain/entities/Content';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { RunRecord } from '../../imports/business/ai/domain/types/RunRecords';
import type { Conversation } from '../../imports/simulator/model/Conversation';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { checkTranscript } from '../support/checkTranscript';
import { MOMENTS } from '../support/durable/handoffProcess';
import type { HandoffWorld } from '../support/durable/handoffProcess';
import { RunChild } from '../support/durable/runChildren';
import { RUN_PLACES } from '../support/durable/runPlaces';
import type { RunPlace } from '../support/durable/runPlaces';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
/** Milliseconds. A process that pauses on a busy machine is not taken for dead. */
const LEASE = 10_000;
/** Kills after a random number of printed lines, up to this one. */
const LINES = 40;
const TOOLS = ['refund', 'research', 'open_invoice'];
/** What the result of a tool begins with. That of a call under review is the attendant's. */
const resultOf = (tool: string, id: string): string => (tool === 'refund' ? 'it was done' : `${tool} for ${id}:`);
/** A budget of model calls that ends a run: the call that the late results need is one more. */
const FEW = 3;

/** Pairs of vendors by place, each in both directions. */
const VENDORS: Readonly<Record<string, readonly [string, string]>> = {
  SQLite: ['anthropic', 'openai'],
  'MongoDB, which survives': ['google', 'anthropic'],
};

const isReady = (line: string): boolean => line.startsWith('ready');
const isEndOf = (id: string, line: string): boolean =>
  /^e run:(?:completed|failed|cancelled) /.test(line) && line.endsWith(` ${id}`);
const countOf = (text: string, value: unknown): number => JSON.stringify(value).split(text).length - 1;
const runIn = (text: string): string => /Run ([\w-]+)\./.exec(text)?.[1] ?? '';

for (const [name, openPlace] of Object.entries(RUN_PLACES)) {
  describe(`kill -9 of processes whose runs are handed over, with ${name}`, () => {
    const children: RunChild[] = [];
    /** Runs whose second agent has spoken, and waits. */
    const waiting = new Set<string>();
    let simulator: Simulator;
    let place: RunPlace;
    let world: HandoffWorld;
    let directory: string;

    /** A model that decides by what it is sent alone, so that it does the same after a kill. */
    function respond({ instructions, turns, wantsReasoning }: Conversation): ModelTurn {
      const id = runIn(JSON.stringify(turns));
      const [, to = ''] = id.split('-');
      const isCalled = (tool: string): boolean => turns.some((turn) => turn.type === 'call' && turn.name === tool);
      const names = instructions.includes('You are triage.')
        ? ['refund', 'research', `hand_over_to_billing_${to}`]
        : isCalled('open_invoice')
          ? []
          : ['open_invoice'];
      if (names.length === 0 && !waiting.has(id)) {
        waiting.add(id);
        for (const child of children) child.write(`go ${id}`);
      }
      return {
        ...(wantsReasoning ? { reasoning: `I think of ${id}.` } : {}),
        ...(names.length === 0 ? { text: TOOLS.filter((tool) => countOf(resultOf(tool, id), turns) > 0).join() } : {}),
        calls: names.map((name) => ({ name, arguments: '{}' })),
        ending: 'complete',
      };
    }

    before(async () => {
      simulator = await startSimulator({ model: { respond }, historyLimit: 10_000 });
      directory = await mkdtemp(join(tmpdir(), 'bolide-handoffs-'));
      const effects = join(directory, 'effects');
      await writeFile(effects, '');
      const vendors = Object.fromEntries(
        VENDORS[name]!.map((vendor) => [vendor, simulator.baseURL(vendor as 'openai')]),
      );
      world = { vendors, effects };
      place = await openPlace();
    });
    after(async () => {
      await Promise.all(children.map((child) => child.kill()));
      await simulator.close();
      await place.close();
      await rm(directory, { recursive: true });
    });

    async function start(): Promise<RunChild> {
      const child = await RunChild.start(JSON.stringify(world), place.name, LEASE, 'handoffProcess.ts');
      children.push(child);
      await child.waitForLines(1, isReady);
      for (const id of waiting) child.write(`go ${id}`);
      return child;
    }

    it(`hands over once, with what is under way (seed ${SEED})`, async () => {
      const random = seededRandom(SEED);
      const [first, second] = VENDORS[name]!;
      const ids = [`${first}-${second}`, `${second}-${first}`]
        .flatMap((pair) => [
          ...MOMENTS.flatMap((moment) => [`${pair}-${moment}-before`, `${pair}-${moment}-after`]),
          ...[1, 2, 3].map((count) => `${pair}-any-${count}`),
          `${pair}-handed-after-${FEW}`,
          `${pair}-any-4-${FEW}`,
        ])
        .map((id) => ({ id, at: random() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ id }) => id);
      // Takes over while the others are killed, where the store is shared. Otherwise the next process does.
      const survivor = name === 'SQLite' ? undefined : await start();
      for (const id of ids) {
        const child = await start();
        child.write(`run ${id}`);
        if (id.includes('-any-')) {
          await child.waitForLines(1, (line) => line === `e run:started ${id}`);
          await Promise.race([
            child.waitForLines(child.lines.length + 1 + Math.floor(random() * LINES)),
            child.waitForLines(1, (line) => isEndOf(id, line)),
          ]);
        } else await child.exited;
        await child.kill();
      }
      await survivor?.kill();
      const last = await start();
      const [, ...unfinished] = last.lines.find(isReady)?.split(' ') ?? [];
      for (const id of unfinished) await last.waitForLines(1, (line) => isEndOf(id, line));
      await last.kill();
      const lines = children.flatMap((child) => child.lines);
      expect(children.flatMap(({ failures }) => failures)).to.deep.equal([]);
      expect(simulator.requests.flatMap(({ rejection }) => rejection ?? [])).to.deep.equal([]);

      const database = await place.open();
      const store = new DocumentRunStore(database);
      const effects = (await readFile(world.effects, 'utf8')).split('\n');
      const stored = await Promise.all(ids.map((id) => store.load(id)));
      await database.close();
      for (const [index, id] of ids.entries()) {
        const run = stored[index]?.run;
        if (run === undefined) throw new Error(`Run ${id} is missing.`);
        checkRun(id, run, effects);
        expect(lines.filter((line) => isEndOf(id, line)).length, id).to.be.at.most(1);
      }
      expect(stored.filter((each) => each?.run.state === 'failed')).not.to.deep.equal([]);
      const starts = lines.filter((line) => line.startsWith('e run:started ')).length;
      console.log(
        `      ${ids.length} kills, ${starts - ids.length} takeovers, ${simulator.requests.length} model calls`,
      );
    });

    function checkRun(id: string, run: RunRecord, effects: readonly string[]): void {
      const [from, to, , , few] = id.split('-');
      const { transcript } = run;
      checkTranscript(transcript);
      const outputs = transcript.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
      const speakers = outputs.filter((output) => JSON.stringify(output).includes('speaker'));
      expect(speakers, id).to.have.length(1);
      expect(JSON.stringify(speakers), id).to.contain(`billing_${to}`);
      // Limits, and the user, are the run's.
      expect(run.userId).to.equal('ann');
      if (run.state === 'failed')
        expect([few, run.error?.code, run.iterations], id).to.deep.equal([`${FEW}`, 'budget-exceeded', FEW]);
      else {
        expect(run.state, id).to.equal('completed');
        expect(run.iterations, id).to.be.at.most(Number(few ?? 5));
        const answer = TOOLS.join();
        expect(run.response?.output_text, id).to.equal(answer);
        const texts = transcript.flatMap((item) =>
          item.type === 'message' && item.role === 'assistant' ? [textOfContent(item.content)] : [],
        );
        expect([texts.at(-1), texts.indexOf(answer)], id).to.deep.equal([answer, texts.length - 1]);
        for (const tool of TOOLS) expect(countOf(resultOf(tool, id), outputs), `${id} ${tool}`).to.equal(1);
        expect(
          effects.filter((effect) => effect.startsWith(`refund ${id}:`)),
          id,
        ).to.have.length(1);
      }
      const delivered = new Set<string>();
      for (const { vendor, body } of simulator.requests.filter(
        (request) => runIn(JSON.stringify(request.body)) === id,
      )) {
        const isHandedOver = countOf('speaker', body) > 0;
        expect(vendor, id).to.equal(isHandedOver ? to : from);
        expect([countOf('You are billing.', body), countOf('You are triage.', body)], id).to.deep.equal(
          isHandedOver ? [1, 0] : [0, 1],
        );
        for (const tool of TOOLS) {
          const count = countOf(resultOf(tool, id), body);
          expect(count, `${id} ${tool}`).to.be.within(delivered.has(tool) ? 1 : 0, 1);
          if (count > 0) delivered.add(tool);
        }
      }
      if (run.state === 'completed') expect([...delivered], id).to.have.members(TOOLS);
    }
  });
}
