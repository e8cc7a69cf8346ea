import type { VendorQuirks } from '../../domain/types/VendorTypes';
import type { Vendor } from './Vendor';

/** The quirks of a known host that serves a vendor's API. */
export function quirksAtHost({ quirksByHost }: Vendor, baseURL: string | undefined): Partial<VendorQuirks> | undefined {
  if (quirksByHost === undefined || baseURL === undefined || !URL.canParse(baseURL)) return undefined;
  return quirksByHost[new URL(baseURL).hostname];
}
