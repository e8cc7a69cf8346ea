/** The trace of a run whose process is killed, and which another process takes over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { bundleChild } from '../support/bundleChild';
import type { PrintedSpan } from '../support/telemetry/tracedChild';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describe('the trace of a run whose process is killed', () => {
  let directory = '';
  before(async () => (directory = await mkdtemp(join(tmpdir(), 'bolide-traced-'))));
  after(() => rm(directory, { recursive: true, force: true }));

  /** Kills the process as soon as it has printed the state. @returns the spans that had ended */
  async function spansUntil(state: string, ...args: readonly string[]): Promise<readonly PrintedSpan[]> {
    const bundle = await bundleChild(join(__dirname, '../support/telemetry/tracedChild.ts'));
    const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const spans: PrintedSpan[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const printed = JSON.parse(line) as { readonly span?: PrintedSpan; readonly state?: string };
      if (printed.span !== undefined) spans.push(printed.span);
      if (printed.state === state) child.kill('SIGKILL');
    }
    expect(await exited).to.deep.equal([null, 'SIGKILL']);
    return spans;
  }

  it('is one, and links a late result to the call that the first process made', async () => {
    const first = await spansUntil('fetched', 'first', directory, `00-${TRACE_ID}-${CALLER}-01`);
    expect(first.map(({ name }) => name)).to.deep.equal(['chat m', 'chat m', 'execute_tool fetch']);
    const second = await spansUntil('completed', 'second', directory);
    expect(second.map(({ name }) => name)).to.deep.equal(['execute_tool look', 'chat m', 'invoke_agent']);
    expect(new Set([...first, ...second].map(({ traceId }) => traceId))).to.deep.equal(new Set([TRACE_ID]));
    const [look, answered, agent] = second;
    // The span of the killed process has never ended, and all of its spans were below it.
    const killed = first[0]?.parent;
    expect(killed).to.match(/^[0-9a-f]{16}$/);
    expect(first.map(({ parent }) => parent)).to.deep.equal([killed, killed, killed]);
    expect(agent?.parent).to.equal(killed);
    expect([look?.parent, answered?.parent]).to.deep.equal([agent?.spanId, agent?.spanId]);
    expect(answered?.links).to.deep.equal([first[2]?.spanId]);
    // The attempt that was cut off.
    expect(look?.links).to.have.lengthOf(1);
  });
});
