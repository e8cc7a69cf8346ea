/** Which of two records of a call counts: a checkpoint that was dropped must not come back. */
import { expect } from 'chai';
import { applyToolEvent, createToolCall } from '../../../../../../imports/business/ai/domain/entities/Tool';
import {
  fromCallDocuments,
  toCallFields,
} from '../../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';

describe('the stored checkpoint of a call', () => {
  const fields = { id: 'a', call_id: 'a', name: 'book', arguments: '{}', blocking: true, createdAt: 1 };
  const started = applyToolEvent(createToolCall(fields), { type: 'tool:executing', at: 2 });
  const saved = applyToolEvent(started, { type: 'tool:checkpoint', at: 3, checkpoint: 'here' });
  const dropped = applyToolEvent(saved, { type: 'tool:checkpoint', at: 4 });
  const read = (document: typeof saved, open: typeof saved): unknown =>
    fromCallDocuments([{ _id: 'e:a', fence: 1, ...toCallFields('e', 'ann', document) }], {
      openCalls: { a: JSON.stringify(open) },
    })[0]?.checkpoint;

  it('is that of the run, which is written before the call', () => {
    expect(read(started, saved)).to.equal('here');
    expect(read(saved, dropped)).to.equal(undefined);
  });
});
