"""The ImageService of the CRI: images are folders of the checkout, so pulling is looking."""

from __future__ import annotations

import os
import time
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.cri import runtime_pb2_grpc as cri_grpc
from local.kubernetes.images import Images, UnknownImage
from local.kubernetes.runtime import messages
from local.kubernetes.runtime.service import answered


class ImageService(cri_grpc.ImageServiceServicer):  # type: ignore[misc]
    """The images this machine provides."""

    def __init__(self, images: Images) -> None:
        self._images = images

    @answered
    async def ListImages(self, request: Any, context: Any) -> Any:
        found = [image for image in self._images.all() if image.built]
        return cri.ListImagesResponse(images=[messages.image_item(image) for image in found])

    @answered
    async def ImageStatus(self, request: Any, context: Any) -> Any:
        """Without an image if there is none to run: the kubelet then pulls, and learns why."""
        try:
            image = self._images.find(request.image.image)
        except UnknownImage:
            return cri.ImageStatusResponse()
        return cri.ImageStatusResponse(image=messages.image_item(image, request.image.image) if image.built else None)

    @answered
    async def PullImage(self, request: Any, context: Any) -> Any:
        image = self._images.find(request.image.image)
        self._images.require_built(image)
        return cri.PullImageResponse(image_ref=image.id)

    @answered
    async def RemoveImage(self, request: Any, context: Any) -> Any:
        # Images are a person's files; a node that is short of disk must not delete them.
        return cri.RemoveImageResponse()

    @answered
    async def ImageFsInfo(self, request: Any, context: Any) -> Any:
        cache = self._images.cache
        cache.mkdir(parents=True, exist_ok=True)
        usage = cri.FilesystemUsage(
            timestamp=time.time_ns(),
            fs_id=cri.FilesystemIdentifier(mountpoint=os.fspath(cache)),
            used_bytes=cri.UInt64Value(value=sum(image.size_bytes for image in self._images.all())),
            inodes_used=cri.UInt64Value(value=0),
        )
        return cri.ImageFsInfoResponse(image_filesystems=[usage], container_filesystems=[usage])
