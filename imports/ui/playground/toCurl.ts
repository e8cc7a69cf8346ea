/**
 * A request of the playground as a curl command: a response of the gateway or, with this server's tools, which only
 * runs have, a run.
 */
import { typeOfAttachment } from './codeRequest';
import type { CodeMessage, CodeRequest } from './codeRequest';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

/** @param requestId of a run; the same id is the same run, whoever repeats the command */
export function toCurl(request: CodeRequest, requestId: string): string {
  const isRun = request.tools.length > 0;
  const body = isRun ? runBody(request, requestId) : responseBody(request);
  const files = new Map<string, string>();
  const json = JSON.stringify(
    body,
    (_name, value: unknown) => {
      if (!(value instanceof FileReference)) return value;
      // Like nothing that a message contains.
      const mark = `@${requestId}-${files.size}@`;
      files.set(mark, value.shell);
      return mark;
    },
    2,
  );
  // Without files, the shell leaves the text as it is; with them, it expands the commands that encode them.
  const hasFiles = files.size > 0;
  let text = hasFiles ? json.replace(/[\\$`]/g, '\\$&') : json;
  for (const [mark, shell] of files) text = text.replace(mark, () => shell);
  return `${[
    ...(isRun ? ['# Starts a run, which continues in the background: GET /runs/<executionId> has its answer.'] : []),
    `curl -s ${shellQuote(`${request.apiUrl}${isRun ? '/api/runs' : '/v1/responses'}`)} \\`,
    '  -H "authorization: Bearer $BOLIDE_API_TOKEN" \\',
    "  -H 'content-type: application/json' \\",
    `  -d @- <<${hasFiles ? 'JSON' : "'JSON'"}`,
    text,
    'JSON',
  ].join('\n')}\n`;
}

/** https://platform.openai.com/docs/api-reference/responses/create */
function responseBody({ address, settings, messages }: CodeRequest): object {
  const { instructions, temperature, maxOutputTokens, reasoning, schema } = settings;
  return omitUndefined({
    model: address,
    instructions,
    input: toInput(messages),
    temperature,
    max_output_tokens: maxOutputTokens,
    reasoning: reasoning && { effort: reasoning },
    text: schema && { format: { type: 'json_schema', name: 'answer', schema } },
  });
}

function runBody({ address, settings, tools, messages }: CodeRequest, requestId: string): object {
  const slash = address.indexOf('/');
  return {
    requestId,
    providerId: slash === -1 ? address : address.slice(0, slash),
    ...(slash === -1 ? {} : { model: address.slice(slash + 1) }),
    ...settings,
    input: toInput(messages),
    tools: tools.map(({ name }) => name),
  };
}

function toInput(messages: readonly CodeMessage[]): unknown {
  const [only] = messages;
  if (messages.length === 1 && only?.attachments.length === 0) return only.text;
  return messages.map(({ role, text, attachments }) => ({
    role,
    content:
      attachments.length === 0
        ? text
        : [
            ...attachments.map((attachment) => {
              const data = new FileReference(attachment.name, typeOfAttachment(attachment));
              return attachment.kind === 'image'
                ? { type: 'input_image', image_url: data }
                : { type: 'input_file', filename: attachment.name, file_data: data };
            }),
            ...(text === '' ? [] : [{ type: 'input_text', text }]),
          ],
  }));
}

/** A file in the working directory, as a data URI that the shell makes. */
class FileReference {
  readonly shell: string;

  constructor(name: string, type: string) {
    this.shell = `data:${type};base64,$(base64 < ${shellQuote(name)} | tr -d '\\n')`;
  }
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
