import { expect } from 'chai';
import { createCallCommands } from '../../../../imports/ui/conversations/createCallCommands';
import type { RunDetails } from '../../../../imports/ui/data/DashboardData';

describe('commands for the calls of a run', () => {
  it('approve the named call with what is shown of it, not of another', async () => {
    const calls = [
      { callId: 'call-1', state: 'needs_review', startTime: 5, argumentsHash: 'hash-1' },
      { callId: 'call-2', state: 'awaiting_approval', argumentsHash: 'hash-2' },
      { callId: 'call-3', state: 'executing', argumentsHash: 'hash-3', input: { id: 'question', message: '?' } },
    ];
    const sent: unknown[] = [];
    const commands = createCallCommands(
      {
        call: (_name, argument) => {
          sent.push(argument);
          return Promise.resolve(undefined as never);
        },
      },
      'run-1',
      () => ({ calls, argumentHashes: new Map() }) as unknown as RunDetails,
    );
    await commands.approve('call-2');
    await commands.approve('call-1');
    await commands.reject('call-3', 'No.');
    await commands.submitResult('call-3', { output: 1 });
    expect(sent).to.deep.equal([
      { executionId: 'run-1', callId: 'call-2', argumentsHash: 'hash-2' },
      { executionId: 'run-1', callId: 'call-1', argumentsHash: 'hash-1', startTime: 5 },
      { executionId: 'run-1', callId: 'call-3', argumentsHash: 'hash-3', inputId: 'question', reason: 'No.' },
      { executionId: 'run-1', callId: 'call-3', inputId: 'question', output: 1 },
    ]);
  });
});
