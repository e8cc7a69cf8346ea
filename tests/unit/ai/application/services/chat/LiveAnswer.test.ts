import { expect } from 'chai';
import { AnswerWriter } from '../../../../../../imports/business/ai/application/services/chat/AnswerWriter';
import { LiveAnswer } from '../../../../../../imports/business/ai/application/services/chat/LiveAnswer';
import type { LiveAnswerPorts } from '../../../../../../imports/business/ai/application/services/chat/LiveAnswer';
import { assistantMessage } from '../../../../../../imports/business/ai/domain/entities/Message';
import type { AnswerOutput } from '../../../../../../imports/business/ai/domain/interfaces/OutputChannel';
import type { AgentEventBody } from '../../../../../../imports/business/ai/domain/types/AgentEvents';
import { ConversationChannel } from '../../../../../../imports/business/ai/infrastructure/events/ConversationChannel';
import { LiveRunEvents } from '../../../../../../imports/business/ai/infrastructure/events/LiveRunEvents';

const RUN = 'r';

const turn = (iteration: number): AgentEventBody => ({ type: 'iteration:start', iteration });
const text = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'text', delta });

type Stored = NonNullable<Awaited<ReturnType<LiveAnswerPorts['runs']['load']>>>['run'];

/** An output of an application's own, which has only what it must. */
class PlainOutput implements AnswerOutput {
  readonly calls: string[] = [];
  readonly send = (sent: string): void => void this.calls.push(sent);
  readonly restart = (): void => void this.calls.push('restarted');
  readonly done = (): void => undefined;
  readonly fail = (): void => undefined;
}

describe('LiveAnswer', () => {
  let live: LiveRunEvents;
  let channel: ConversationChannel;
  let heard: string[];
  let seq: number;
  beforeEach(() => {
    live = new LiveRunEvents();
    channel = new ConversationChannel();
    heard = [];
    seq = 0;
    channel.subscribe({
      start: () => undefined,
      gap: () => undefined,
      event: ({ data, type = data }) => heard.push(type),
    });
  });

  function emit(...bodies: readonly AgentEventBody[]): void {
    for (const body of bodies) {
      seq += 1;
      live.record({ ...body, executionId: RUN, at: seq, seq });
    }
  }

  /** Resolves once it has read the stored run. */
  async function show(output: AnswerOutput, run?: Stored): Promise<LiveAnswer> {
    const stored = Promise.resolve(run === undefined ? undefined : { run });
    const shown = new LiveAnswer(RUN, new AnswerWriter(output), { live, runs: { load: () => stored } });
    await stored;
    await Promise.resolve();
    return shown;
  }

  it('goes on where the channel is, when the first listener comes back', async () => {
    const first = await show(channel.follow(RUN));
    emit(turn(1), text('You '), text('said: '));
    first.stop();
    emit(text('hello'));
    await show(channel.follow(RUN));
    emit(text(' there'));
    expect(heard).to.deep.equal(['You ', 'said: ', 'hello', ' there']);
  });

  it('sends nothing again of a model call that another process repeats', async () => {
    await show(channel.follow(RUN));
    emit(turn(1), text('You '), text('said'));
    emit(turn(1), text('You sa'), text('id: '), text('hello'));
    expect(heard).to.deep.equal(['You ', 'said', ': ', 'hello']);
  });

  it('begins again as soon as the repeated model call differs', async () => {
    await show(channel.follow(RUN));
    emit(turn(1), text('You said: '));
    emit(turn(1), text('Yes'), text(', hello'));
    expect(heard).to.deep.equal(['You said: ', 'restarted', 'Yes', ', hello']);
  });

  it('begins again if the repeated model call differs from what another writer has sent', async () => {
    const first = await show(channel.follow(RUN));
    emit(turn(1), text('You said: '));
    first.stop();
    live = new LiveRunEvents();
    await show(channel.follow(RUN));
    emit(turn(1), text('Yes, '), text('you did.'));
    expect(heard).to.deep.equal(['You said: ', 'restarted', 'Yes, you did.']);
  });

  it('shows what the stored run has, and the turns after it', async () => {
    const run = { input: [], transcript: [assistantMessage('Let me see.')], iterations: 2, isCalling: true };
    emit(turn(2), text('It '));
    await show(channel.follow(RUN), run);
    emit(text('works.'));
    expect(heard.join('')).to.equal('Let me see.\n\nIt works.');
  });

  it('writes to an output that can only send and restart', async () => {
    const output = new PlainOutput();
    await show(output);
    emit(turn(1), text('You '), text('said'));
    emit(turn(1), text('You said: '), text('hello'));
    emit(turn(1), text('Yes'));
    expect(output.calls).to.deep.equal(['You ', 'said', ': ', 'hello', 'restarted', 'Yes']);
  });

  it('has no effect on what this process writes, before and after it has handed the answer over', async () => {
    await show(channel.follow(RUN));
    const own = channel.begin(RUN);
    own.send('Own');
    emit(turn(1), text('Another '));
    own.handOver?.();
    emit(text('answer'));
    expect(heard).to.deep.equal(['Own']);
    await show(channel.follow(RUN));
    expect(heard).to.deep.equal(['Own', 'restarted', 'Another answer']);
  });
});
