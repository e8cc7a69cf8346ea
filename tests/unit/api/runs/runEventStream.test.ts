import { expect } from 'chai';
import { briefEvent, OMITTED_TYPES } from '../../../../imports/api/runs/runEventStream';
import type { AgentEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { recordedRun } from '../../../support/recordedRun';

describe('brief events', () => {
  it('name every change of a run and its calls, without texts, arguments and results', async () => {
    const events = await recordedRun();
    const brief = events.map((event) => JSON.parse(briefEvent(event.type, JSON.stringify(event))) as AgentEvent);
    expect(brief.map(({ type, executionId, seq }) => ({ type, executionId, seq }))).to.deep.equal(
      events.map(({ type, executionId, seq }) => ({ type, executionId, seq })),
    );
    const sent = brief.filter(({ type }) => !OMITTED_TYPES.has(type));
    expect(JSON.stringify(sent)).not.to.match(/"(output_text|arguments|result|delta)":/);
    expect(JSON.stringify(events), 'which the events have').to.match(/"arguments":.*"result":/);
  });
});
