/** The violations of a schema by a value, with no time limit. */
import { compileSchema } from '../../imports/business/ai/application/services/schema/SchemaCompiler';
import { judge } from '../../imports/business/ai/application/services/schema/SchemaValidator';
import type { Violation } from '../../imports/business/ai/application/services/schema/SchemaValidator';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export function validate(schema: JsonObject, value: unknown): readonly Violation[] {
  return judge(compileSchema(schema), value, false).violations;
}
