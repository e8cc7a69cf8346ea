/** Counts the levels and values of a JSON text before it is parsed, so that a million brackets never become objects. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { HttpError } from './HttpError';

export interface JsonLimits {
  /** Levels of nested objects and arrays. */
  readonly maxJsonDepth: number;
  /** Objects, arrays and their entries. */
  readonly maxJsonValues: number;
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

export class JsonScan {
  private readonly limits: JsonLimits;
  private depth = 0;
  /** How many there are so far. */
  values = 0;
  private inString = false;
  private isEscaped = false;

  constructor(limits: JsonLimits) {
    this.limits = limits;
  }

  /**
   * Reads the next part of the text.
   * @throws LLMInvalidRequestError beyond the depth, HttpError beyond the number of values
   */
  read(json: Uint8Array): void {
    const { maxJsonDepth, maxJsonValues } = this.limits;
    let { depth, values, inString } = this;
    const { length } = json;
    const first = this.isEscaped ? 1 : 0;
    this.isEscaped = false;
    for (let at = first; at < length; at += 1) {
      const byte = json[at];
      if (inString) {
        if (byte === BACKSLASH) {
          at += 1;
          this.isEscaped = at === length;
        } else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values += 1;
        depth += 1;
        if (depth > maxJsonDepth)
          throw new LLMInvalidRequestError(`The request body is nested deeper than ${maxJsonDepth} levels.`, {
            path: '',
          });
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    }
    Object.assign(this, { depth, values, inString });
    if (values > maxJsonValues)
      throw new HttpError(
        413,
        `The request body has more than ${maxJsonValues} values: objects, arrays and their entries. Send fewer.`,
      );
  }
}
