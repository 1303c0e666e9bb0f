import type { Api } from '../api.ts';

/** The operations of one resource. */
export class Area {
  protected readonly api: Api;

  constructor(api: Api) {
    this.api = api;
  }
}
