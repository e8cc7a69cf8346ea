/** Ajv, loaded when the first schema is compiled: its 90 files are a large part of what a short program loads. */
import type { Ajv } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type addFormats from 'ajv-formats';

interface AjvClasses {
  readonly Ajv: typeof Ajv;
  readonly Ajv2020: typeof Ajv2020;
  readonly addFormats: typeof addFormats;
}

let loaded: AjvClasses | undefined;

/** `require`, because schemas are compiled synchronously. The npm package contains Ajv, so it has no `require`. */
export function ajvClasses(): AjvClasses {
  /* oxlint-disable typescript/no-require-imports */
  loaded ??= {
    Ajv: (require('ajv') as typeof import('ajv')).Ajv,
    Ajv2020: (require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020,
    addFormats: (require('ajv-formats') as typeof import('ajv-formats')).default,
  };
  /* oxlint-enable typescript/no-require-imports */
  return loaded;
}
