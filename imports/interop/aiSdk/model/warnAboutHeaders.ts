import type { SharedV4Headers, SharedV4Warning } from '@ai-sdk/provider';

/** The AI SDK adds its own `user-agent` to every call. @param warnings receives one if there are other headers */
export function warnAboutHeaders(headers: SharedV4HeadersInput, warnings: SharedV4Warning[]): void {
  const names = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined || name.toLowerCase() === 'user-agent' ? [] : [name],
  );
  if (names.length > 0)
    warnings.push({
      type: 'unsupported',
      feature: 'headers',
      details: `Headers cannot be added to a call: ${names.join(', ')}. Vendors' beta features are options in "vendor".`,
    });
}

type SharedV4HeadersInput = Readonly<Record<string, SharedV4Headers[string] | undefined>> | undefined;
