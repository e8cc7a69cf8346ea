/** Logged bodies stay valid JSON, bounded and free of secrets, whatever they contain. */
import { expect } from 'chai';
import { loggedJson, MAX_BODY_LENGTH } from '../../../../imports/business/requestLog/infrastructure/loggedJson';
import { CANARY } from '../../../support/canaries';

describe('loggedJson', () => {
  it('leaves ordinary values as they are', () => {
    const value = { text: 'Grüße 👋\n', list: [1, null, true, 'x'], nested: { max_output_tokens: 5, token: 'Hel' } };
    expect(JSON.parse(loggedJson(value))).to.deep.equal(value);
  });

  it('cuts long texts, and states how long they were', () => {
    const { text } = JSON.parse(loggedJson({ text: 'word '.repeat(20_000) })) as { text: string };
    expect(text).to.have.length.below(33_000);
    expect(text).to.match(/… \(100000 characters\)$/);
  });

  it('cuts images and other binary data to their beginning', () => {
    const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(50_000)}`;
    const json = loggedJson({ input: [{ type: 'input_image', image_url: image }] });
    expect(json).to.have.length.below(400);
    expect(json).to.include('data:image/png;base64,');
  });

  it('bounds the whole, however many values there are', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => ({ at, text: `Text number ${at} of a long list.` }));
    const json = loggedJson({ many, more: many });
    expect(json).to.have.length.below(2 * MAX_BODY_LENGTH);
    expect(JSON.parse(json)).to.have.property('many');
  });

  it('finds a secret at any place in a long text', () => {
    for (let before = 900; before < 1_100; before += 1)
      expect(loggedJson([`${'word '.repeat(before / 5)} sk-${CANARY}-0123456789 and more`])).not.to.include(CANARY);
    expect(loggedJson([`${'x'.repeat(32_760)} sk-${CANARY}-0123456789 ${'y '.repeat(3_000)}`])).not.to.include(CANARY);
  });

  it('ends soon on hostile texts', () => {
    for (const hostile of ['a.', 'a-', '*a', '\\', 'eyJ.', 'a:', ' '])
      loggedJson(Array.from({ length: 20 }, () => hostile.repeat(20_000)));
  });

  it('writes what is not JSON as JSON', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(() => JSON.parse(loggedJson(cycle)) as unknown).not.to.throw();
    expect(JSON.parse(loggedJson({ a: () => 1, b: Symbol('x'), c: [() => 1] }))).to.deep.equal({ c: [null] });
    expect(loggedJson(undefined)).to.equal('null');
  });
});
