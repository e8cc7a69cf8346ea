import { expect } from 'chai';
import { MessageTemplate } from '../../../../../imports/business/ai/infrastructure/streaming/MessageTemplate';

function matched(template: string, message: string, before = ''): number {
  const bytes = Buffer.from(before + message);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return new MessageTemplate(template).match(bytes, view, Buffer.byteLength(before));
}

const START = 'data: {"type":"text","index":0,"delta":"';
const MESSAGE = `${START}It","sequence_number":4}\n\n`;
const NEXT = `${START}is it \\"?","sequence_number":5}\n\n`;

describe('MessageTemplate', () => {
  it('matches a message with another text, and the next number, at any position', () => {
    for (let length = 0; length < 8; length += 1) {
      const before = 'x'.repeat(length);
      expect(matched(MESSAGE, NEXT, before)).to.equal(length + NEXT.length);
    }
  });

  it('matches no message of which a byte outside of text and number differs', () => {
    const text = NEXT.indexOf('is it');
    const number = NEXT.lastIndexOf('5');
    for (let at = 0; at < NEXT.length; at += 1) {
      if ((at >= text && at < text + 'is it \\"?'.length) || at === number) continue;
      const other = `${NEXT.slice(0, at)}~${NEXT.slice(at + 1)}`;
      expect(matched(MESSAGE, other), other).to.equal(-1);
    }
  });

  it('matches no message that is not complete', () => {
    for (let length = 0; length < NEXT.length; length += 1)
      expect(matched(MESSAGE, NEXT.slice(0, length)), String(length)).to.equal(-1);
  });

  it('matches no message whose number is not the next one', () => {
    for (const number of ['4', '6', '05', '5.0'])
      expect(matched(MESSAGE, NEXT.replace('"sequence_number":5', `"sequence_number":${number}`)), number).to.equal(-1);
  });
});
