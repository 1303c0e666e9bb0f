/** Registers a customer from the form of a page, with the rules of POST /customer. */
import type { Registration } from '../../auth/oauth/customer-directory.ts';
import type { Context } from '../../database/context.ts';
import { requireNoErrors } from '../../errors.ts';
import { validate } from '../../schema/validate.ts';
import { type CustomerInput, customerInput } from '../schemas.ts';
import type { CustomerService } from '../service.ts';

/** @param context of changes that no request of the API makes */
export function createRegistration(
  customers: Pick<CustomerService, 'register'>,
  passwordLengthMin: number,
  context: Context,
): Registration {
  const schema = customerInput(passwordLengthMin);
  return {
    async register(fields) {
      const { value, errors } = validate(schema, fields);
      requireNoErrors(errors);
      return (await customers.register(context, value as CustomerInput)).id;
    },
  };
}
