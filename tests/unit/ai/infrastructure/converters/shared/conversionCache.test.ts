import { expect } from 'chai';
import type { InputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { keepHistories } from '../../../../../../imports/business/ai/infrastructure/converters/shared/conversionCache';

describe('keepHistories', () => {
  const question = (text: string): InputItem => ({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
  });

  it('keeps what the conversations that began last have converted, and no more', () => {
    let converted = 0;
    const historyOf = keepHistories<object, object>(() => ({ number: (converted += 1) }));
    const send = (item: InputItem): object => historyOf([item]).convert(item, 0);
    const oldest = question('Who waits for days?');
    send(oldest);
    const kept = send(oldest);
    expect(send(oldest)).to.equal(kept);
    const others = Array.from({ length: 1_000 }, (_other, index) => question(`${index}`));
    for (const other of others) {
      send(other);
      send(other);
    }
    expect(converted).to.equal(2 + 2 * others.length);
    expect(send(oldest)).not.to.equal(kept);
    // The conversation goes on, and is among the last again.
    const anew = send(oldest);
    expect(send(oldest)).to.equal(anew);
    expect(send(others[1]!)).to.deep.equal({ number: 6 });
  });
});
