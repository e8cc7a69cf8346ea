import type { VendorQuirks } from '../../domain/types/VendorTypes';
import { parseUrl } from '../../domain/util/parseUrl';
import type { Vendor } from './Vendor';

/** The quirks of a known host that serves a vendor's API, or of the domain that it belongs to. */
export function quirksAtHost({ quirksByHost = {} }: Vendor, baseURL = ''): Partial<VendorQuirks> | undefined {
  const host = `.${parseUrl(baseURL)?.hostname ?? ''}`;
  return Object.entries(quirksByHost).find(([domain]) => host.endsWith(`.${domain}`))?.[1];
}
