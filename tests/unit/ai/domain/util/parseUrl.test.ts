import { expect } from 'chai';
import { parseUrl } from '../../../../../imports/business/ai/domain/util/parseUrl';

describe('parseUrl', () => {
  it('reads URLs, and says undefined of what is not one', () => {
    expect(parseUrl('https://example.com/a?b')?.href).to.equal('https://example.com/a?b');
    expect(parseUrl('/b', 'https://example.com/a')?.href).to.equal('https://example.com/b');
    for (const text of ['', '/a', 'example.com', 'https://', 'https://example.com:70000'])
      expect(parseUrl(text), text).to.equal(undefined);
  });

  // Node's URL.canParse fails after some thousands of times, once V8 has optimized its caller.
  it('reads names with letters of other alphabets as often as it is asked', () => {
    for (let time = 0; time < 50_000; time += 1)
      if (parseUrl('https://bücher.example')?.host !== 'xn--bcher-kva.example')
        expect.fail(`refused the URL at time ${time}`);
  });
});
