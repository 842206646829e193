"""IAM roles and their policies."""

from __future__ import annotations

import json
from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


class Role(Handler):
    type = "aws:iam/role:Role"
    service = "iam"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        optional = {
            wire: inputs[key]
            for key, wire in (("description", "Description"), ("permissionsBoundary", "PermissionsBoundary"))
            if inputs.get(key)
        }
        made = self.client(cloud).create_role(
            RoleName=inputs["name"],
            Path=inputs.get("path") or "/",
            AssumeRolePolicyDocument=_text(inputs["assumeRolePolicy"]),
            MaxSessionDuration=int(inputs.get("maxSessionDuration") or 3600),
            Tags=as_pairs(inputs.get("tagsAll")),
            **optional,
        )
        return str(made["Role"]["RoleName"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "assumeRolePolicy" in changed:
            client.update_assume_role_policy(RoleName=name, PolicyDocument=_text(inputs["assumeRolePolicy"]))
        if changed & {"description", "maxSessionDuration"}:
            client.update_role(
                RoleName=name,
                Description=inputs.get("description") or "",
                MaxSessionDuration=int(inputs.get("maxSessionDuration") or 3600),
            )
        if "permissionsBoundary" in changed:
            if inputs.get("permissionsBoundary"):
                client.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=inputs["permissionsBoundary"])
            else:
                client.delete_role_permissions_boundary(RoleName=name)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        if remove:
            self.client(cloud).untag_role(RoleName=name, TagKeys=remove)
        self.client(cloud).tag_role(RoleName=name, Tags=as_pairs(tags))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).get_role, RoleName=name)
        if answer is None:
            return None
        role = answer["Role"]
        return {
            "arn": role["Arn"],
            "name": role["RoleName"],
            "path": role["Path"],
            "description": role.get("Description", ""),
            "maxSessionDuration": role.get("MaxSessionDuration", 3600),
            "permissionsBoundary": (role.get("PermissionsBoundary") or {}).get("PermissionsBoundaryArn", ""),
            "assumeRolePolicy": _text(role["AssumeRolePolicyDocument"]),
            "uniqueId": role["RoleId"],
            "createDate": role["CreateDate"].isoformat(),
            "tagsAll": from_pairs(role.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_role, RoleName=name)


class RolePolicy(Handler):
    type = "aws:iam/rolePolicy:RolePolicy"
    service = "iam"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.update(cloud, "", {}, inputs, frozenset())
        return f"{inputs['role']}:{inputs['name']}"

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.client(cloud).put_role_policy(
            RoleName=inputs["role"], PolicyName=inputs["name"], PolicyDocument=_text(inputs["policy"])
        )

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        role, _, policy = name.partition(":")
        answer = cloud.found(self.client(cloud).get_role_policy, RoleName=role, PolicyName=policy)
        if answer is None:
            return None
        return {"role": role, "name": policy, "policy": _text(answer["PolicyDocument"])}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        role, _, policy = name.partition(":")
        cloud.until_free(self.client(cloud).delete_role_policy, RoleName=role, PolicyName=policy)


class RolePolicyAttachment(Handler):
    type = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    service = "iam"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).attach_role_policy(RoleName=inputs["role"], PolicyArn=inputs["policyArn"])
        return f"{inputs['role']}/{inputs['policyArn']}"

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        role, _, arn = name.partition("/")
        return name, {"role": role, "policyArn": arn}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        role, arn = known["role"], known["policyArn"]
        answer = cloud.found(self.client(cloud).list_attached_role_policies, RoleName=role)
        attached = [policy["PolicyArn"] for policy in (answer or {}).get("AttachedPolicies", ())]
        return {"role": role, "policyArn": arn} if arn in attached else None

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).detach_role_policy, RoleName=state["role"], PolicyArn=state["policyArn"])
