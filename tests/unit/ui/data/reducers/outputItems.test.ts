import { expect } from 'chai';
import type { RunDetailView } from '../../../../../imports/business/ai/domain/types/RunViews';
import { outputItems } from '../../../../../imports/ui/data/reducers/outputItems';
import { runFromSnapshot } from '../../../../../imports/ui/data/reducers/runFromSnapshot';
import { textItem } from '../../../../../imports/testing/responses';
import { RUN } from '../../records';

describe('outputItems', () => {
  const question = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] };
  const input = JSON.stringify([textItem('An earlier response.'), question]);

  it('returns what the run has added to its input', () => {
    const transcript = JSON.stringify([textItem('An earlier response.'), question, textItem('Now this.')]);
    expect(outputItems({ input, transcript })).to.deep.equal([textItem('Now this.')]);
    expect(outputItems({ input })).to.deep.equal([]);
  });

  it('leaves the live text of a run complete whose input contains an earlier response', () => {
    const run: RunDetailView = { ...RUN, input };
    const deltas = [{ _id: '1', executionId: run._id, seq: 1, kind: 'text', text: 'Now' } as const];
    expect(runFromSnapshot({ run, toolCalls: [], deltas }).liveText.text).to.equal('Now');
  });
});
