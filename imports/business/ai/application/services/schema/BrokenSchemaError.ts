/** A JSON Schema is invalid. No `LLMError`, so that the program of the schema workers contains none of them. */
export class BrokenSchemaError extends Error {
  /** The path of the invalid place, e.g. `$.properties.city.type`. */
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(`the JSON Schema is broken at ${path}: ${reason}`, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.path = path;
  }
}
